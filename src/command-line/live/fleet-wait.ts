// Waiting until proxies have what is active: all that are connected, a number of them, or a share.

import { setTimeout as pause } from 'node:timers/promises';
import type { FleetView, ProxyView } from '../../model/answers/fleet-answers.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { CommandFailure, exitCodes, wrongUsage } from '../exit.ts';
import { LiveLine } from '../terminal/live-line.ts';

export type Wanted = (connected: number) => number;

/** Reads `all`, `12` or `90%`. */
export function wantedOf(text: string): Wanted {
  if (text === 'all') return (connected) => connected;
  const [, amount, percent] = /^(\d{1,6})(%?)$/.exec(text) ?? [];
  if (amount === undefined || (percent === '%' && Number(amount) > 100))
    throw wrongUsage(`--wait must be all, a number or a percentage, not ${text}`);
  return percent === '%' ? (connected) => Math.ceil((connected * Number(amount)) / 100) : () => Number(amount);
}

const pollMs = 250;

/**
 * Resolves when so many proxies have installed index `index` or a later one, with the words for where it is live. Rejects with exit
 * code 6.
 */
export async function waitForFleet(session: Session, index: number, wanted: Wanted, limitMs: number): Promise<string> {
  const api = await session.api();
  const line = new LiveLine(session.terminal);
  const endsAt = performance.now() + limitMs;
  for (;;) {
    const fleet = await fleetOf(api);
    const connected = fleet.proxies.filter(({ state }) => state !== 'disconnected');
    const refusing = connected.filter(
      ({ state, wanted: active }) => state === 'refused' && (active?.index ?? 0) >= index,
    );
    const installed = connected.filter((each) => (each.installed?.index ?? 0) >= index && each.state !== 'refused');
    const needed = wanted(connected.length);
    line.show(`waiting   fleet ${installed.length}/${connected.length}`);
    const isComplete = installed.length >= needed && fleet.unreachableNodes.length === 0;
    if (isComplete || refusing.length > 0 || performance.now() >= endsAt) line.end();
    if (isComplete)
      return installed.length === connected.length
        ? 'everywhere'
        : `at ${installed.length} of ${connected.length} proxies`;
    if (refusing.length > 0) throw gaveUp('a proxy refuses it', refusing.map(refusalLine));
    if (performance.now() >= endsAt) {
      const missing = connected.filter((each) => !installed.includes(each)).map(({ id, state }) => `${id} ${state}`);
      const silent = fleet.unreachableNodes.map((node) => `node ${node} does not answer`);
      throw gaveUp(`${installed.length} of ${needed} proxies have it`, [...missing, ...silent]);
    }
    await pause(pollMs);
  }
}

export const fleetOf = (api: Api): Promise<FleetView> => api.get<FleetView>('/fleet');

const refusalLine = ({ id, problems }: ProxyView): string =>
  `${id} ${problems.map(({ pointer, message }) => `${pointer} ${message}`).join('; ')}`;

const gaveUp = (message: string, lines: readonly string[] = []): CommandFailure =>
  new CommandFailure(exitCodes.gaveUp, `${message}; it is live all the same · undo: sluice rollback`, lines);
