import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { configKinds, editableKinds } from '../../../src/model/kinds.ts';
import type { Command } from '../../../src/state/command.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import { liveContent } from '../../../src/state/live-base.ts';
import { commandOf, ownersAtWork } from '../../support/random-commands.ts';

/** Content of each entity, by kind and id. */
type Contents = ReadonlyMap<string, unknown>;

interface Moment {
  readonly live: Contents;
  readonly staged: Contents;
  readonly writers: ReadonlyMap<string, string | undefined>;
}

/** Returns what is live and what is staged; captured values of secrets by their reference. */
function momentOf(state: ConfigState): Moment {
  const content = liveContent(state);
  const live = new Map<string, unknown>();
  for (const kind of configKinds) for (const { id, spec } of content.entities[kind]) live.set(`${kind} ${id}`, spec);
  for (const [text, value] of Object.entries(content.values)) live.set(text, value);
  const staged = new Map<string, unknown>();
  const writers = new Map<string, string | undefined>();
  for (const kind of editableKinds) {
    for (const entity of state.list(kind)) {
      staged.set(`${kind} ${entity.id}`, entity.spec);
      writers.set(`${kind} ${entity.id}`, Reflect.get(entity, 'writer') as string | undefined);
    }
  }
  return { live, staged, writers };
}

/** Entities that the batch names, and those of its owner where it prunes. */
function isTouched(command: Command, key: string, { live, staged }: Moment): boolean {
  if (command.op !== 'batch') return false;
  for (const operation of command.operations) if (`${operation?.kind} ${operation?.id}` === key) return true;
  // A hand-over that is not live yet keeps it from the former owner's prune.
  const isOwn = ((staged.get(key) ?? live.get(key)) as { owner?: string } | undefined)?.owner === command.owner;
  return command.prune !== undefined && command.owner !== undefined && isOwn;
}

describe('owners who publish on what is live', () => {
  it('never publish and never lose what others have edited', () => {
    const seen = { published: 0, kept: 0, conflicts: 0, pruned: 0, discarded: 0 };
    const check = (list: Parameters<typeof commandOf>[0][]): void => {
      const state = new ConfigState();
      for (const [at, step] of list.entries()) {
        const command = commandOf(step, at + 1, state);
        const before = momentOf(state);
        const round = state.prepare([{ index: at + 1, command }], at + 1);
        round.commit();
        const result = round.results[0]?.result;
        const after = momentOf(state);
        seen.discarded += result?.discarded?.length ?? 0;
        if (result?.error?.startsWith('/snapshot/base')) seen.conflicts += 1;
        if (result?.status !== 200) {
          expect([after.live, after.staged], 'a refused command changes nothing').to.deep.equal([
            before.live,
            before.staged,
          ]);
          continue;
        }
        if (command.op !== 'batch' || command.snapshot?.base === undefined) continue;
        seen.pruned += result.pruned?.length ?? 0;
        const keys = new Set([...before.live.keys(), ...before.staged.keys(), ...after.live.keys()]);
        for (const key of keys) {
          if (key.startsWith('{{')) continue;
          if (!isTouched(command, key, before)) {
            expect(after.live.get(key), `${key} is live as it was`).to.deep.equal(before.live.get(key));
            expect(after.staged.get(key), `${key} is staged as it was`).to.deep.equal(before.staged.get(key));
            seen.kept += isDeepStrictEqual(before.live.get(key), before.staged.get(key)) ? 0 : 1;
          } else if (!key.startsWith('secrets')) {
            const isForeign =
              !isDeepStrictEqual(before.live.get(key), before.staged.get(key)) &&
              (command.owner === undefined || before.writers.get(key) !== command.owner);
            if (isForeign)
              expect(after.staged.get(key), `${key} is not overwritten`).to.deep.equal(before.staged.get(key));
            if (command.snapshot.activate) {
              expect(after.live.get(key), `${key} is live`).to.deep.equal(after.staged.get(key));
              seen.published += 1;
            }
          }
        }
        const names = configKinds.map((kind) => state.snapshot(state.active?.snapshotId ?? '')?.entities[kind] ?? []);
        for (const list of names) expect(new Set(list.map(({ name }) => name)).size).to.equal(list.length);
      }
    };
    fc.assert(fc.property(ownersAtWork(40), check), { numRuns: 200, seed: 7 });
    for (const [what, count] of Object.entries(seen)) expect(count, what).to.be.greaterThan(50);
  });
});
