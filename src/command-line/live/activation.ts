// Making an input live: a snapshot of what is active with the changes on top, activated at once, until confirmed, or step
// by step. Edits of others that are staged stay staged.

import { isDeepStrictEqual } from 'node:util';
import { parseDuration } from '../../model/duration.ts';
import { type EditableKind, editableKinds } from '../../model/kinds.ts';
import type { SnapshotSummary } from '../../model/snapshot.ts';
import type { Values } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import type { Api } from '../connection/api-client.ts';
import type { Entity } from '../entities.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { durationGiven } from '../flag-values.ts';
import { countOf } from '../input/fault.ts';
import { durationText, minuteText } from '../output/duration-text.ts';
import { failOnFlag, severityGiven } from '../output/finding-lines.ts';
import { type ClusterState, snapshotState } from '../plan/cluster-state.ts';
import type { Change } from '../plan/plan.ts';
import { commit } from '../plan/plan-commit.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { waitForFleet, wantedOf } from './fleet-wait.ts';
import { type Rollout, stepsOf, watchRollout } from './rollouts.ts';

export const activationFlags = {
  activate: { kind: 'switch', brief: 'Make it live: a snapshot of what is active with these changes' },
  wait: { kind: 'text', value: 'all|N|N%', brief: 'Wait until so many proxies have it; exit code 6 when that fails' },
  waitFor: { kind: 'text', value: 'DURATION', brief: 'How long --wait waits; default 5m' },
  confirm: {
    kind: 'text',
    value: 'DURATION',
    brief: 'Goes back by itself unless sluice confirm comes within this time',
  },
  rollout: { kind: 'text', value: 'SHARES', brief: 'Step by step: 1,10,100, or 1:30s,10:1m,100 with holds' },
  snapshotName: { kind: 'text', value: 'NAME', brief: 'Name of the snapshot; default: the owner and the time' },
  failOn: failOnFlag,
  comment: { kind: 'text', value: 'TEXT', brief: 'Kept with the activation' },
} as const;

type Flags = Values<typeof activationFlags> & {
  readonly adopt: boolean;
  readonly ifStaged: string | undefined;
  readonly prune: boolean;
};

/** Something makes it live. */
export const isLive = ({ confirm, rollout }: Pick<Flags, 'confirm' | 'rollout'>): boolean =>
  confirm !== undefined || rollout !== undefined;

/** Throws wrong usage for flags that do not go together. A dry run may ask for findings without making anything live. */
export function checkActivation({
  activate,
  wait,
  waitFor,
  confirm,
  rollout,
  snapshotName,
  comment,
  failOn,
  dryRun = false,
}: Values<typeof activationFlags> & { readonly dryRun?: boolean }): void {
  if (confirm !== undefined && rollout !== undefined) throw wrongUsage('--confirm and --rollout exclude each other');
  const given = { wait, 'snapshot-name': snapshotName, comment };
  const idle = Object.entries(given).find(([, value]) => value !== undefined);
  if (idle !== undefined && !activate && !isLive({ confirm, rollout }))
    throw wrongUsage(`--${idle[0]} belongs to --activate, --confirm or --rollout`);
  if (waitFor !== undefined && wait === undefined) throw wrongUsage('--wait-for belongs to --wait');
  if (failOn !== undefined && severityGiven(failOn) && !dryRun && !activate && !isLive({ confirm, rollout }))
    throw wrongUsage('--fail-on belongs to --activate, --confirm, --rollout or --dry-run');
  if (confirm !== undefined && parseDuration(confirm) === undefined)
    throw wrongUsage(`--confirm must be a duration such as 5m, not ${confirm}`);
  if (rollout !== undefined) stepsOf(rollout);
  if (wait !== undefined) wantedOf(wait);
  waitLimit(waitFor);
}

const defaultWaitMs = 300_000;

export const waitLimit = (text: string | undefined): number =>
  text === undefined ? defaultWaitMs : durationGiven('wait-for', text, '5m');

/** Resources that the input means, and their owners. */
export interface Meant {
  readonly entities: readonly { readonly kind: EditableKind; readonly entity: Entity }[];
  readonly kinds: ReadonlySet<EditableKind>;
  readonly owners: ReadonlySet<string>;
  /** `ETag` of what was staged when the input was compared with it. */
  readonly etag: string | undefined;
}

/** Owner in whose name an input is written: the only one that it has. */
export const ownerOf = ({ owners }: Pick<Meant, 'owners'>): string | undefined =>
  owners.size === 1 ? [...owners][0] : undefined;

/** Tells what a large batch has under way for seconds. */
export const noteLarge = (terminal: Terminal, count: number, bytes: number): void =>
  terminal.note(`sending   ${countOf(count, 'change')}, ${Math.ceil(bytes / 1024 / 1024)} MiB`);

/** Snapshots, and the changes that make live what is meant. */
interface LiveChanges {
  readonly snapshots: readonly SnapshotSummary[];
  readonly isAnyLive: boolean;
  readonly changes: readonly Change[];
}

/** Resolves with the changes that are to be staged, and those that are staged already and not live. */
export async function liveChanges(
  api: Api,
  staged: readonly Change[],
  meant: Meant,
  prunes: boolean,
): Promise<LiveChanges> {
  const snapshots = await api.get<readonly SnapshotSummary[]>('/snapshots');
  const active = snapshots.find((each) => each.active);
  const live = active === undefined ? { entities: {} } : await snapshotState(api, active.id);
  const changes = [...staged, ...onlyLive(staged, live, meant, prunes)];
  return { snapshots, isAnyLive: active !== undefined, changes };
}

/** Resolves with the exit code. */
export async function makeLive(
  session: Session,
  staged: readonly Change[],
  flags: Flags,
  meant: Meant,
): Promise<number> {
  const { terminal } = session;
  const api = await session.api();
  const { snapshots, isAnyLive, changes } = await liveChanges(api, staged, meant, flags.prune);
  if (changes.length === 0 && isAnyLive) {
    terminal.note('no change');
    return exitCodes.done;
  }
  const name = flags.snapshotName ?? freeName(snapshots, [...meant.owners].join(' '));
  const atOnce = !isLive(flags);
  session.underWay = 'the batch may have been taken; sluice history tells what is live, sluice rollback undoes';
  const { comment, failOn } = flags;
  const { reply } = await commit(api, changes, {
    override: flags.adopt,
    owner: ownerOf(meant),
    ifMatch: meant.etag,
    onLarge: (bytes) => noteLarge(terminal, changes.length, bytes),
    snapshot: {
      name,
      base: 'active',
      ...(failOn !== undefined && { failOn }),
      ...(atOnce && { activate: true, ...(comment !== undefined && { comment }) }),
    },
  });
  const { index, snapshot, warnings = [] } = reply.body;
  for (const { pointer, message } of warnings) terminal.warn(`${pointer} ${message}`);
  const id = snapshot?.id ?? '';
  terminal.note(`staged    ${countOf(changes.length, 'change')} in one batch (index ${index})`);
  terminal.note(`snapshot  ${id} ${JSON.stringify(name)}`);
  return await giveToProxies(session, { id, index: index ?? 0 }, flags);
}

/** Gives a snapshot to proxies as the flags say; `index` is that of the batch which made it live already. */
export async function giveToProxies(
  session: Session,
  { id, index }: { readonly id: string; readonly index: number },
  flags: Pick<Flags, 'confirm' | 'rollout' | 'comment' | 'wait' | 'waitFor'>,
): Promise<number> {
  const { terminal } = session;
  const api = await session.api();
  const { confirm, rollout, comment, wait, waitFor } = flags;
  if (rollout !== undefined) {
    const started = await startRollout(api, id, { steps: stepsOf(rollout), ...(comment !== undefined && { comment }) });
    session.underWay = `the rollout ${started.id} goes on without this command · undo: sluice rollout abort`;
    if (wait !== undefined) return await watchRollout(session, started.id);
    terminal.note(`rollout   ${started.id} has begun · watch: sluice rollout watch · undo: sluice rollout abort`);
    return exitCodes.done;
  }
  const startedAt = performance.now();
  let at = index;
  if (confirm !== undefined) {
    at = await activate(api, id, { confirmWithin: confirm, ...(comment !== undefined && { comment }) });
    terminal.note(`live      for ${confirm} unless it is confirmed: sluice confirm`);
  }
  session.underWay = 'it is live · undo: sluice rollback';
  if (wait !== undefined) {
    const where = await waitForFleet(session, at, wantedOf(wait), waitLimit(waitFor));
    terminal.note(`done      live ${where} in ${durationText(performance.now() - startedAt)} · undo: sluice rollback`);
  } else terminal.note('done      live · undo: sluice rollback');
  return exitCodes.done;
}

/** Activates a snapshot; resolves with the index of the activation. */
export async function activate(
  api: Api,
  id: string,
  { comment, ...query }: { readonly confirmWithin?: string; readonly force?: string; readonly comment?: string },
): Promise<number> {
  const { headers } = await api.ask('POST', `/snapshots/${encodeURIComponent(id)}/activate`, {
    query,
    ...(comment !== undefined && { json: { comment } }),
  });
  return Number(headers['x-sluice-revision'] ?? 0);
}

export async function startRollout(api: Api, snapshotId: string, body: object): Promise<Rollout> {
  const { body: rollout } = await api.ask<Rollout>('POST', `/snapshots/${encodeURIComponent(snapshotId)}/rollout`, {
    json: body,
  });
  return rollout;
}

/** Changes that are staged already, by an earlier apply, and not live. */
function onlyLive(
  staged: readonly Change[],
  live: ClusterState,
  { entities, kinds, owners }: Meant,
  prunes: boolean,
): Change[] {
  const known = new Set(staged.map(({ kind, id }) => `${kind} ${id}`));
  const meant = new Set(entities.map(({ kind, entity }) => `${kind} ${entity.id}`));
  const alive = new Map<string, Entity>();
  for (const kind of editableKinds)
    for (const entity of live.entities[kind] ?? []) alive.set(`${kind} ${entity.id}`, entity);
  const written = entities.flatMap(({ kind, entity }): Change[] => {
    const key = `${kind} ${entity.id}`;
    // Secrets are no part of a snapshot.
    if (kind === 'secrets' || known.has(key) || isDeepStrictEqual(alive.get(key), entity)) return [];
    return [{ is: 'changed', kind, id: entity.id, name: entity.name, entity, changes: [] }];
  });
  if (!prunes) return written;
  const gone = [...kinds].flatMap((kind) =>
    (live.entities[kind] ?? []).flatMap(({ id, name, owner }): Change[] => {
      const isOurs = owner !== undefined && owners.has(owner);
      const key = `${kind} ${id}`;
      return isOurs && !known.has(key) && !meant.has(key) ? [{ is: 'deleted', kind, id, name, owner }] : [];
    }),
  );
  return [...written, ...gone];
}

/** `team-shop 2026-11-25 16:02`, with seconds and a number where that is taken. */
function freeName(snapshots: readonly SnapshotSummary[], owner: string): string {
  const taken = new Set(snapshots.map(({ name }) => name));
  const now = new Date();
  const prefix = owner === '' ? 'apply' : owner;
  const minute = `${prefix} ${minuteText(now)}`;
  if (!taken.has(minute)) return minute;
  const second = `${minute}:${now.toISOString().slice(17, 19)}`;
  for (let n = 2, name = second; ; n++, name = `${second} (${n})`) if (!taken.has(name)) return name;
}
