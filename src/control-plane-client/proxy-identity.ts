// Identity of this proxy in its fleet. The id outlives the process; the boot does not, so that a control plane can tell
// a restart from a second proxy of the same name.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../../disk/directory.ts';
import { readIfPresent, writeDurably } from '../../disk/durable-file.ts';

export interface ProxyIdentity {
  readonly id: string;
  /** Start token of this process. */
  readonly boot: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly version: string;
}

const proxyIdPattern = /^[A-Za-z0-9._~:-]{1,128}$/;

/**
 * Returns the configured id, or the one that is kept in `storePath`, made anew when there is none; `notKept` gives the
 * reason why it could not be read or written there. One that the system does not let be read stays as it is.
 */
export async function proxyId(
  configured: string | undefined,
  storePath: string,
): Promise<{ readonly id: string; readonly notKept?: string }> {
  if (configured !== undefined) return { id: configured };
  const file = join(storePath, 'id');
  const host = hostname()
    .replace(/[^A-Za-z0-9._~:-]/g, '-')
    .slice(0, 100);
  const id = `${host}-${randomBytes(3).toString('hex')}`;
  try {
    await makeDirectory(storePath);
    const known = (await readIfPresent(file))?.trim();
    if (known !== undefined && proxyIdPattern.test(known)) return { id: known };
    await writeDurably(file, `${id}\n`);
    return { id };
  } catch (error) {
    return { id, notKept: error instanceof Error ? error.message : String(error) };
  }
}

export const newBoot = (): string => randomBytes(8).toString('hex');

/** Returns the headers of the request for the stream (fleet.md §3). */
export const identityHeaders = ({ id, boot, labels, version }: ProxyIdentity): Record<string, string> => ({
  'x-sluice-proxy': id,
  'x-sluice-boot': boot,
  'x-sluice-labels': Object.entries(labels)
    .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
    .join(','),
  'x-sluice-version': version,
});
