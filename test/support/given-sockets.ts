// Sockets that proxies under test have, by the environment: `SLUICE_SOCKETS=node`. Default: those of the settings.
import { parseDocument } from 'yaml';

const given = process.env.SLUICE_SOCKETS;
if (given !== undefined && given !== 'node' && given !== 'native')
  throw new Error(`SLUICE_SOCKETS=${given} is no kind`);

export const givenSockets: 'node' | 'native' | undefined = given;

/** Returns a settings file with the given sockets; one that names sockets keeps its own. */
export function withGivenSockets(file: string): string {
  if (givenSockets === undefined) return file;
  const settings = parseDocument(file);
  if (settings.hasIn(['proxy', 'sockets'])) return file;
  settings.setIn(['proxy', 'sockets'], givenSockets);
  return String(settings);
}
