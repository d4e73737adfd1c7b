// `log-level`: how much nodes log, module by module, while they run.

import { setTimeout as pause } from 'node:timers/promises';
import type { ShownLogLevels } from '../../model/answers/log-level-answers.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { durationGiven } from '../flag-values.ts';
import { showValue } from '../output/form.ts';

const levels = ['debug', 'info', 'warn', 'error'];

export const logLevelCommand = command({
  words: 'log-level',
  brief: 'Show or set how much the nodes log',
  text: `Of each node that \`--server\` names, until its end. With \`--for\` the command waits so long and sets back what was before; an
interruption sets it back at once.`,
  arguments: [{ name: '[MODULE=]LEVEL', brief: `${levels.join(', ')}; a module such as raft`, optional: true }],
  flags: { for: { kind: 'text', value: 'DURATION', brief: 'Set it back after this time' } },
  hasForms: true,
  examples: [{ line: 'sluice log-level raft=debug --for 10m', does: 'logs more of raft for ten minutes' }],
  async run(session, [setting], flags) {
    const { each } = await session.api();
    if (setting === undefined) {
      for (const api of each) await print(session, api, await api.get<ShownLogLevels>('/log-level'));
      return exitCodes.done;
    }
    const [, module, level = ''] = /^(?:([a-z]+)=)?([a-z]+)$/.exec(setting) ?? [];
    if (!levels.includes(level))
      throw wrongUsage(`a level is one of ${levels.join(', ')}, such as raft=debug, not ${setting}`);
    const ms = flags.for === undefined ? undefined : durationGiven('for', flags.for, '10m');
    const before: ShownLogLevels[] = [];
    for (const api of each) before.push(await api.get<ShownLogLevels>('/log-level'));
    const ending = new AbortController();
    // From here on, for an interruption before all servers have answered leaves levels to set back, too.
    if (ms !== undefined) session.onInterrupt = () => ending.abort();
    const asked: (readonly [api: Api, before: ShownLogLevels])[] = [];
    try {
      for (const [at, api] of each.entries()) {
        // A server whose answer gets lost may have changed its level all the same.
        asked.push([api, before[at] as ShownLogLevels]);
        await print(session, api, await set(api, module, level));
      }
      if (ms === undefined) return exitCodes.done;
      await pause(ms, undefined, { signal: ending.signal }).catch(() => undefined);
    } catch (error) {
      if (ms !== undefined) await restoreAll(asked).catch((also: Error) => session.terminal.warn(also.message));
      throw error;
    }
    await restoreAll(asked);
    session.terminal.note('set back');
    return session.wasInterrupted ? exitCodes.interrupted : exitCodes.done;
  },
});

const set = async (api: Api, module: string | undefined, level: string): Promise<ShownLogLevels> =>
  (await api.ask<ShownLogLevels>('PUT', '/log-level', { json: { level, ...(module !== undefined && { module }) } }))
    .body;

/** Sets back all servers that can be reached. Rejects with the failure of the first that cannot. */
async function restoreAll(asked: readonly (readonly [api: Api, before: ShownLogLevels])[]): Promise<void> {
  const failures: unknown[] = [];
  for (const [api, before] of asked) await restore(api, before).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** A level of all modules takes those of their own away, so that it is set first. */
async function restore(api: Api, before: ShownLogLevels): Promise<void> {
  await set(api, undefined, before.level);
  for (const [module, level] of Object.entries(before.modules))
    if (level !== before.level) await set(api, module, level);
}

async function print({ terminal, form }: Session, api: Api, value: ShownLogLevels): Promise<void> {
  const [server] = api.servers;
  const levelsOfAll = [['level', value.level], ...Object.entries(value.modules)];
  const text = levelsOfAll.map(([key, level]) => `${key}=${level}`).join(' ');
  await showValue(terminal, form, value, () => `${server}  ${text}\n`);
}
