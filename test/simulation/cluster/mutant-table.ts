// Bugs that are planted into the product above raft, each by a change of the source text while it is loaded: the five of
// raft.md C4 that raft's own simulator cannot have. Where a check at the start or at an install gives one away at once,
// it is planted once more with that check blinded, so that what clients see has to give it away.
import type { Edit, Mutant } from '../../../raft/testing/mutants/table.ts';

const isRequestRow = '/^[rbf]\\//.test(key)';

const checkpointWithoutRequests: Edit = edit(
  'src/state/checkpoint-rows.ts',
  '    if (isLocal(key)) continue;',
  `    if (isLocal(key) || ${isRequestRow}) continue;`,
);

const separateBatch: Edit = edit(
  'src/state/durable-state.ts',
  '      await this.#store.write(changes, { applied, hash, boot: this.identity.boot });',
  `      const isPosition = ({ key }) => key === 'p' || key === 'h';
      const { boot } = this.identity;
      const rest = changes.filter((change) => !isPosition(change));
      await this.#store.write(rest, { applied: this.#state.applied, hash: this.#state.hash, boot });
      await this.#store.write(changes.filter(isPosition), { applied, hash, boot });`,
);

export const mutants: readonly Mutant[] = [
  { name: 'request table missing from checkpoints', edits: [checkpointWithoutRequests] },
  {
    name: 'request table missing from checkpoints and state hash',
    edits: [
      checkpointWithoutRequests,
      edit(
        'src/state/state-hash.ts',
        '      this.add(key, body === undefined ? undefined : digest);',
        `      if (!${isRequestRow}) this.add(key, body === undefined ? undefined : digest);`,
      ),
      edit('src/state/config-state.ts', 'if (key !== keys.hash)', `if (key !== keys.hash && !${isRequestRow})`),
    ],
  },
  {
    name: 'starts are forgotten by the local clock',
    edits: [
      edit(
        'src/cluster/proposer.ts',
        '      const { results, activation } = await this.#state.apply(',
        `      Object.assign(globalThis, { localMs: this.#clock.nowMs() });
      const { results, activation } = await this.#state.apply(`,
      ),
      edit(
        'src/state/request-table.ts',
        '    if (logTime < this.#nextExpiry) return;',
        `    logTime = globalThis.localMs;
    if (logTime < this.#nextExpiry) return;`,
      ),
    ],
  },
  {
    name: 'a read does not wait until its node has applied',
    edits: [
      edit(
        'src/cluster/proposer.ts',
        '    await this.appliedAtLeast(index, deadlineMs);\n    return index;',
        '    return index;',
      ),
    ],
  },
  { name: 'applied index in a separate batch', edits: [separateBatch] },
  {
    name: 'applied index in a separate batch, and no hash is compared',
    edits: [
      separateBatch,
      edit(
        'src/state/config-state.ts',
        'if (rows.length === 0 || loaded.hash === this.#shownHash) return undefined;',
        'if (rows.length >= 0) return undefined;',
      ),
      edit('src/state/opening.ts', 'state.hash !== mark.hash', 'state.hash === undefined'),
    ],
  },
  {
    name: 'a retry has a new request id',
    edits: [
      edit(
        'src/cluster/delivery.ts',
        '    const { requestId, bytes, deadline } = this.#parcel;',
        `    const { requestId: first, bytes: firstBytes, deadline } = this.#parcel;
    const requestId = { ...first, seq: first.seq + (attempt - 1) * 1_000_000 };
    const command = JSON.parse(Buffer.from(firstBytes).toString());
    const bytes = attempt === 1 ? firstBytes : Buffer.from(JSON.stringify({ ...command, requestId }));`,
      ),
    ],
  },
];

function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}
