// Planted bugs: each is a change of the source text, made while the module is loaded, so that the product carries
// no switches. The simulator has to find every one; one that it does not find is a hole in the checkers.

export interface Edit {
  /** Path below raft/. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
}

export const mutants: readonly Mutant[] = [
  one('count own match before sync', 'core/commit.ts', 'return state.log.stable;', 'return state.log.lastIndex;'),
  one('grant vote before sync', 'core/outbox.ts', "      case 'voteResp':\n", ''),
  one(
    'vote and term in two writes',
    'driver/log-writer.ts',
    'this.#store.write(batch, (failure) => {',
    `const { hardState } = batch;
    const first = hardState ? { ...batch, hardState: { ...hardState, vote: undefined } } : batch;
    this.#store.write(first, (failure) => {
      if (hardState) this.#store.write({ hardState, sync: true }, () => undefined);`,
  ),
  one(
    'term after entries',
    'driver/log-writer.ts',
    'this.#store.write(batch, (failure) => {',
    `const { hardState, ...rest } = batch;
    const then = (go: (failure: Error | undefined) => void) =>
      this.#store.write(rest, (failure) => (hardState && !failure ? this.#store.write({ hardState, sync: true }, go) : go(failure)));
    then((failure) => {`,
  ),
  one('vote request before sync', 'core/outbox.ts', "      case 'vote':\n", ''),
  one(
    'acknowledge on receipt',
    'core/outbox.ts',
    "      case 'appendResp':\n        return false;",
    '        return false;',
  ),
  one('apply beyond synced', 'core/outbox.ts', 'Math.min(log.committed, log.stable)', 'log.committed'),
  one('commit an older term by counting', 'core/commit.ts', ' || log.term(counted) !== state.term', ''),
  one('skip the no-op', 'core/leader.ts', "  appendEntry(state, { ...nextHead(state, 0), kind: 'noop' });\n", ''),
  one('forget the vote on restart', 'core/state.ts', '    vote,\n', '    vote: undefined,\n'),
  {
    name: 'adopting a higher term grants the vote',
    edits: [
      edit(
        'core/raft-core.ts',
        'becomeFollower(state, term, isLeader ? from : undefined);',
        "becomeFollower(state, term, isLeader ? from : undefined);\n    if (type === 'vote') state.vote = from;",
      ),
      edit(
        'core/election.ts',
        'const granted = (state.vote === from || isFree) && holdsEnough(state, lastIndex, lastTerm);',
        'const granted = state.vote === from || (isFree && holdsEnough(state, lastIndex, lastTerm));',
      ),
    ],
  },
  one(
    'truncate on a shorter message',
    'core/raft-log.ts',
    'if (conflict === -1) return undefined;',
    `if (conflict === -1) {
      const end = (entries.at(-1)?.index ?? this.lastIndex) + 1;
      if (end <= this.lastIndex && end > this.#committed) this.#truncate(end);
      return undefined;
    }`,
  ),
  one(
    'commit beyond the last new entry',
    'core/follower.ts',
    'commitTo(state, Math.min(commit, agreed));',
    'commitTo(state, Math.min(commit, log.lastIndex));',
  ),
  one(
    'heartbeat commits beyond match',
    'core/replication.ts',
    'Math.min(progress.match, state.log.committed)',
    'state.log.committed',
  ),
  one(
    'an old completion proves a newer entry durable',
    'core/raft-log.ts',
    'for (const { truncateFrom } of this.#flights) if (truncateFrom) stable = Math.min(stable, truncateFrom - 1);',
    '',
  ),
  one(
    'learner counted',
    'core/commit.ts',
    'committedIndex(state.config,',
    'committedIndex({ ...state.config, voters: [...state.config.voters, ...state.config.learners] },',
  ),
  {
    name: 'joint needs only one half',
    edits: [
      edit(
        'core/quorum.ts',
        'Math.min(majorityIndex(voters, matched), majorityIndex(outgoing, matched))',
        'majorityIndex(voters, matched)',
      ),
      edit(
        'core/quorum.ts',
        'const halves = [majorityVote(voters, vote), majorityVote(outgoing, vote)];',
        'const halves = [majorityVote(voters, vote)];',
      ),
    ],
  },
  {
    name: 'second configuration change while one is pending',
    edits: [
      edit(
        'core/leader.ts',
        'if (state.log.pendingConfig !== undefined || !hasCommittedInTerm(state))',
        'if (!hasCommittedInTerm(state))',
      ),
      edit(
        'driver/pending-configuration-change.ts',
        'if (this.#pending !== undefined) {',
        'if (this.#deadline === -1) {',
      ),
    ],
  },
  one(
    'learner refuses to vote',
    'core/election.ts',
    'const granted = (state.vote === from || isFree) &&',
    'const granted = (state.vote === from || isFree) && isVoter(state.config, state.settings.id) &&',
  ),
  {
    name: 'removed member keeps its vote',
    edits: [
      edit(
        'core/raft-core.ts',
        'if (!config.removed.includes(from)) return undefined;',
        'if (configIndex >= 0) return undefined;',
      ),
      edit(
        'core/election.ts',
        'const voters = new Set([...config.voters, ...config.outgoing]);',
        'const voters = new Set([...config.voters, ...config.outgoing, ...config.removed]);',
      ),
      edit(
        'core/election.ts',
        'const result = voteResult(state.config, (id) => state.votes.get(id));',
        `const granting = [...state.votes.values()].filter(Boolean).length;
  const enough = granting > state.config.voters.length / 2;
  const result = enough ? 'won' : voteResult(state.config, (id) => state.votes.get(id));`,
      ),
    ],
  },
  one('identity used again', 'testing/sim/sim-node.ts', '    this.incarnation += 1;\n', ''),
  one('read without a round', 'core/reading.ts', '(has) => hasQuorum(state.config, has)', '() => true'),
  one('read before a commit of the own term', 'core/reading.ts', 'while (hasCommittedInTerm(state) && ', 'while ('),
  one('read id used again', 'driver/readers.ts', '    this.#nextId += 1;\n', ''),
  one(
    'follower reads without waiting for its apply',
    'testing/sim/workload.ts',
    'if ((node.host?.applied ?? 0) >= index) this.#answer(node, open);',
    'this.#answer(node, open);',
  ),
  one(
    'applied index in a separate batch',
    'testing/sim/sim-host.ts',
    '    this.#disk.generations.set(this.#generation, state);\n',
    `    const { applied, term, time } = this.#onDisk(this.#generation);
    this.#disk.generations.set(this.#generation, { ...state, applied, term, time });
    const generation = this.#generation;
    this.#world.later(1, () => {
      if (generation === this.#generation) this.#disk.generations.set(generation, state);
    });
`,
  ),
  {
    name: 'install a checkpoint below the applied index',
    edits: [
      edit('core/follower.ts', 'return meta.index <= log.committed;', 'return meta.index < log.firstIndex;'),
      edit(
        'core/follower.ts',
        'if (meta.index > log.committed && log.term(meta.index) === meta.term)',
        'if (meta.index < 0)',
      ),
      edit('core/raft-log.ts', 'invariant(meta.index > this.#committed, ()', 'invariant(meta.index > 0, ()'),
    ],
  },
  one(
    'keep a suffix of another term behind a checkpoint',
    'core/raft-log.ts',
    '    this.#entries = [];\n    this.#configs = [];\n',
    '    this.#entries = this.#entries.slice(meta.index - this.#base.index);\n    this.#configs = [];\n',
  ),
  one(
    'compact before the checkpoint is verified',
    'driver/driver.ts',
    'if (this.#policy.isDue(this.#applied)) this.#parts.host.makeCheckpoint();',
    `if (this.#policy.isDue(this.#applied)) {
        this.#parts.host.makeCheckpoint();
        const compactTo = this.#core.compactTo(this.#applied);
        this.#writer.add({ seq: undefined, batch: { compactTo, sync: true }, messages: [] });
      }`,
  ),
  one(
    'a checkpoint does not wait for the state',
    'testing/sim/sim-host.ts',
    '      if (!this.#sync()) return;\n      this.#world.writeCheckpoint(',
    '      this.#world.writeCheckpoint(',
  ),
  one(
    'continue after a write error',
    'driver/log-writer.ts',
    'else this.#events.failed(failure);',
    'else this.#finish(jobs);',
  ),
  one('two batches outstanding', 'driver/log-writer.ts', 'return this.#startedAt === undefined;', 'return true;'),
  one(
    'stepped down reported as failed',
    'driver/proposals.ts',
    "this.#report(id, { kind: 'unknown', why });",
    "this.#report(id, { kind: 'notApplied', why: 'not leader' });",
  ),
  one(
    'replay missed ticks after a pause',
    'driver/ticker.ts',
    '    if (gap <= this.#stallTicks) {',
    `    for (let missed = 1; missed < gap; missed += 1) this.#events.tick(now);
    if (gap >= 0) {`,
  ),
  one('no answer to a poll of a lower term', 'core/raft-core.ts', '        answerPoll(state, message, false);\n', ''),
  one(
    'probe never leaves',
    'core/progress.ts',
    '    this.active = true;\n    this.#waiting = false;\n',
    '    this.active = true;\n',
  ),
];

/** One for each rule of B16, B22, B23 and B28 that no planted bug above breaks first, and for the order of writes. */
export const ofRules: readonly Mutant[] = [
  one(
    'a checkpoint leaves a register out',
    'testing/sim/state-machine.ts',
    'new Map(state.registers)',
    'new Map([...state.registers].slice(1))',
  ),
  one(
    'a checkpoint names the newest configuration',
    'driver/driver.ts',
    'config: this.#core.configAt(image.index, newest) };',
    'config: this.#core.inspect().config };',
  ),
  one(
    'a session is answered below its revision',
    'testing/sim/onlookers.ts',
    'session.asks <= state.applied',
    'session.asks >= 0',
  ),
  one(
    'a proxy shows what a node sends that lags behind',
    'testing/sim/onlookers.ts',
    '    if (activation.index <= proxy.shown) return;\n',
    '',
  ),
  one(
    'an election without a poll',
    'core/election.ts',
    'if (state.settings.preVote && !transfer) startPoll(state);',
    'if (state.settings.preVote && transfer) startPoll(state);',
  ),
  one(
    'a leader stays without a quorum',
    'core/leader.ts',
    '&& !hearsQuorum(state)',
    '&& !hearsQuorum(state) && !state',
  ),
  one(
    'a checkpoint file gets its name before it is synced',
    'testing/sim/checkpoint-shelf.ts',
    "if (!this.#do('sync', () => this.#syncFile(partial))) return;",
    '',
  ),
  one(
    'the directory of a checkpoint is not synced',
    'testing/sim/checkpoint-shelf.ts',
    "if (this.#do('syncDirectory', this.#sync)) done(name);",
    'done(name);',
  ),
];

/** Faults that the simulator once found in this code, planted again: each must still be found. */
export const foundOnce: readonly Mutant[] = [
  one(
    'a removed voter insists on the log behind its removal',
    'core/leaving-voter.ts',
    'return takesVote === undefined ? undefined : log.startOfLastTerm(takesVote);',
    'return undefined;',
  ),
  one(
    'chunks that arrive out of order fill the queue',
    'driver/checkpoint-receiver.ts',
    '    fetch.queue.set(offset, data);\n',
    '    if (fetch.queue.size >= this.#window) return;\n    fetch.queue.set(offset, data);\n',
  ),
  {
    name: 'acknowledgements of an earlier life count',
    edits: [
      edit('core/progress.ts', 'if (boot < this.#peerBoot) return false;', 'if (boot < this.#peerBoot) return true;'),
      edit('core/follower.ts', 'message.vouchedBoot === state.settings.boot', 'message.vouchedBoot >= 0'),
    ],
  },
  one(
    'a node whose peers were replaced hears none of the new ones',
    'core/senders.ts',
    'silentTicks >= 2 * settings.electionTicks',
    'silentTicks < 0 * settings.electionTicks',
  ),
  one(
    'a read round waits for a voter that left',
    'core/reading.ts',
    '  if (state.reads.current > 0) confirmRead(state, state.settings.id, state.reads.current);\n',
    '',
  ),
  one(
    'pruning removes a checkpoint that is being installed',
    'store/checkpoint-files.ts',
    'names.filter((name) => name < oldest)',
    'names.filter((name) => !keep.has(name))',
  ),
  {
    name: 'pruning removes the checkpoint that the log on disk names',
    edits: [
      edit('driver/checkpoint-policy.ts', 'if (this.#isBeingMade || this.#files.length > 2)', 'if (this.#isBeingMade)'),
      edit(
        'driver/checkpoint-policy.ts',
        'this.#files.slice(Math.max(0, at - 1))',
        'this.#files.slice(Math.min(-2, at))',
      ),
    ],
  },
  one(
    'a checkpoint takes away what was acknowledged behind it',
    'core/follower.ts',
    'if (holds(state, meta)) return false;',
    'if (meta.index <= log.committed) return false;',
  ),
  one(
    'a checkpoint older than the kept log is sent for ever',
    'core/progress.ts',
    'else if (this.pendingCheckpoint > 0 && this.#match >= this.pendingCheckpoint) this.becomeProbe();',
    '',
  ),
  one('a suspect counts', 'core/progress.ts', 'return !this.lost && !this.#suspect;', 'return !this.lost;'),
  one(
    'a suspect is vouched for at once',
    'core/progress.ts',
    'return this.#suspect && committed > this.#suspectAt ? this.#peerBoot : 0;',
    'return this.#suspect && committed > 0 ? this.#peerBoot : 0;',
  ),
  one(
    'a learner holds on to a leader that is gone',
    'core/raft-core.ts',
    'else if (state.leader !== undefined) becomeFollower(state, state.term, undefined);',
    '',
  ),
  one(
    'what a poll says of a commit is not heard',
    'core/commit.ts',
    '  if (log.term(commit) === commitTerm) commitTo(state, commit);\n',
    '',
  ),
  one(
    'what a poll says of a commit is believed of another entry',
    'core/commit.ts',
    'if (log.term(commit) === commitTerm) commitTo(state, commit);',
    'if (commit <= log.lastIndex) commitTo(state, commit);',
  ),
];

function edit(file: string, find: string, replace: string): Edit {
  return { file, find, replace };
}

function one(name: string, file: string, find: string, replace: string): Mutant {
  return { name, edits: [edit(file, find, replace)] };
}

/** Throws when the text does not hold exactly one place for the edit. */
export function applyEdit(source: string, { file, find, replace }: Edit): string {
  const at = source.indexOf(find);
  if (at === -1 || source.indexOf(find, at + 1) !== -1) throw new Error(`${file} has not exactly one: ${find}`);
  return source.slice(0, at) + replace + source.slice(at + find.length);
}
