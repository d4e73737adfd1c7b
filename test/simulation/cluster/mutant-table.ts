// Bugs that are planted into the product above raft, each by a change of the source text while it is loaded: those
// that raft's own simulator cannot have. Where a check at the start or at an install gives one away at once,
// it is planted once more with that check blinded, so that what clients see has to give it away.
import type { Edit, Mutant } from '../../../raft/testing/mutants/table.ts';

/** Keys of the request table, and of the table of Idempotency-Keys. */
const requestRows = '/^[rbf]\\//.test(key)';
const keyRows = '/^i\\//.test(key)';

const checkpointWithout = (rows: string): Edit =>
  edit('src/state/checkpoint-rows.ts', '    if (isLocal(key)) continue;', `    if (isLocal(key) || ${rows}) continue;`);

const hashWithout = (rows: string): readonly Edit[] => [
  edit(
    'src/state/state-hash.ts',
    '      else this.add({ key, body, digest });',
    `      else if (!${rows}) this.add({ key, body, digest });`,
  ),
  edit(
    'src/state/config-state.ts',
    'if (row.key !== keys.hash)',
    `if (row.key !== keys.hash && !${rows.replace('key', 'row.key')})`,
  ),
];

const separateBatch: Edit = edit(
  'src/state/round-writer.ts',
  '      if (mark !== undefined && !this.#isOver) await this.#writeChanges(changes, mark);\n',
  `      if (mark !== undefined && !this.#isOver) {
        const isPosition = ({ key }) => key === 'p' || key === 'h';
        const rest = changes.filter((change) => !isPosition(change));
        const { store } = this.#parts;
        await store.write(rest, this.former ?? { ...mark, applied: 0, hash: '0'.repeat(16) });
        await store.write(changes.filter(isPosition), mark);
        this.former = mark;
      }
`,
);

export const mutants: readonly Mutant[] = [
  { name: 'request table missing from checkpoints', edits: [checkpointWithout(requestRows)] },
  {
    name: 'request table missing from checkpoints and state hash',
    edits: [checkpointWithout(requestRows), ...hashWithout(requestRows)],
  },
  {
    name: 'starts are forgotten by the local clock',
    edits: [
      edit(
        'src/cluster/log/proposer.ts',
        '      const { results, activation, changesRollout } = await this.#state.apply(',
        `      Object.assign(globalThis, { localMs: this.#clock.nowMs() });
      const { results, activation, changesRollout } = await this.#state.apply(`,
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
        'src/cluster/log/proposer.ts',
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
      edit('src/state/open-state.ts', 'state.hash !== mark.hash', 'state.hash === undefined'),
    ],
  },
  {
    name: 'a retry has a new request id',
    edits: [
      edit(
        'src/cluster/log/delivery.ts',
        '    const { requestId, bytes, deadline } = this.#proposal;',
        `    const { requestId: first, bytes: firstBytes, deadline } = this.#proposal;
    const requestId = { ...first, seq: first.seq + (attempt - 1) * 1_000_000 };
    const [head = '', ...lines] = Buffer.from(firstBytes).toString().split('\\n');
    const again = [JSON.stringify({ ...JSON.parse(head), requestId }), ...lines].join('\\n');
    const bytes = attempt === 1 ? firstBytes : Buffer.from(again);`,
      ),
    ],
  },
];

/** More of the same code, to see that the checkers see it. */
export const furtherMutants: readonly Mutant[] = [
  {
    name: 'Idempotency-Keys missing from checkpoints and state hash',
    edits: [checkpointWithout(keyRows), ...hashWithout(keyRows)],
  },
  one(
    'a relay that is not answered counts as not applied',
    'src/cluster/relay/relay-client.ts',
    "outcome: reply.sent ? 'unknown' : 'not-applied'",
    "outcome: 'not-applied'",
  ),
  one(
    'a relay that is given up leaves no doubt',
    'src/cluster/log/delivery.ts',
    "    if (this.#under === 'relay') this.#everUnknown = true;\n",
    '',
  ),
  one(
    'a relayed write is answered before its node has applied it',
    'src/cluster/log/pending-proposals.ts',
    'await this.#parts.waiters.wait(index, deadlineMs).then(',
    'await Promise.resolve().then(',
  ),
  one(
    'a forgotten start may begin again',
    'src/state/request-table.ts',
    '    this.#floors.set(floorKey, floor);\n',
    '',
  ),
  one(
    'an answered request may be executed once it is forgotten',
    'src/state/request-table.ts',
    "id.seq < boot.ackedBelow ? { is: 'refused', why: 'the request was answered before' } : { is: 'new' }",
    "{ is: 'new' }",
  ),
  one(
    'what lies behind a gap does not wait for the checkpoint',
    'src/cluster/log/apply-queue.ts',
    "if (first?.type !== 'committed' || first.batch.first <= applied + 1) return",
    'if (first !== undefined) return',
  ),
  one(
    'an activation is shown before the store has it',
    'src/state/durable-state.ts',
    'const isAwaited = activation !== undefined || changesRollout;',
    'const isAwaited = false;',
  ),
  one(
    'what comes while the state is written is lost',
    'src/state/round-writer.ts',
    '      this.#written = added;\n',
    '      this.#written = added;\n      this.#rows.clear();\n',
  ),
  one(
    'a part of a batch stays when another part is refused',
    'src/state/decide.ts',
    '  if (verdict.status !== 200) undo();\n',
    '',
  ),
  one(
    'a step ends although a guard is false',
    'src/leader/rollout-controller.ts',
    'step.failures === 0 && isServed',
    'isServed',
  ),
  one(
    'a second rollout begins beside the first',
    'src/state/decide-rollout.ts',
    '  if (other !== undefined) return underWay(other);\n',
    '',
  ),
  one(
    'what is over may go on',
    'src/state/decide-rollout.ts',
    '  if (!isUnderWay(rollout)) return over(rollout);\n',
    '',
  ),
  one(
    'the candidate of a rollout may be deleted',
    'src/state/decide-activation.ts',
    'if (rollout?.snapshotId === id) return',
    'if (rollout?.snapshotId === undefined) return undefined; if (rollout.id === id) return',
  ),
  one(
    'a rollout is driven through its first step alone',
    'src/leader/rollout-controller.ts',
    "    if (rollout?.state !== 'running') {",
    "    if (rollout?.state !== 'running' || rollout.step > 0) {",
  ),
  one(
    'nobody is told that a rollout is over',
    'src/feed/candidate-frames.ts',
    "return rollout === undefined ? undefined : event('withdraw', index, JSON.stringify({ rollout }));",
    'return undefined;',
  ),
  one(
    'who comes back is not told that its rollout is over',
    'src/feed/sse.ts',
    'const told = { rollout: hasRollout, share: -1, shadowSample: 0 };',
    'const told = { rollout: undefined, share: -1, shadowSample: 0 };',
  ),
  one(
    'the proxy within a node keeps its candidate',
    'src/fleet/candidate-shares.ts',
    'return this.subscribe(() => subscriber(hers(this.news.candidate)));',
    'return this.subscribe(() => this.news.candidate && subscriber(hers(this.news.candidate)));',
  ),
  one(
    'a node without a leader gives out the candidate for ever',
    'src/fleet/rollout-watch.ts',
    'const isCutOff = clock.monotonicMs() - this.#contactMs >= candidate.deadmanMs;',
    'const isCutOff = false;',
  ),
  one(
    'a proxy that hears nothing serves the candidate for ever',
    'src/control-plane-client/remote-candidates.ts',
    '      this.#isSilent = true;\n',
    '',
  ),
];

function one(name: string, file: string, find: string, replace: string): Mutant {
  return { name, edits: [edit(file, find, replace)] };
}

function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}
