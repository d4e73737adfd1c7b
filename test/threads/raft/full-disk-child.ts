// Runs under a limit of file size that stands for a full disk: commits until a write is rejected, says so, and waits until the
// parent has lifted the limit and written a line. Then it commits again. Prints one JSON line: what was acknowledged before
// and after, what it said of the disk, and why it ended, if it did.
import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';

import { commit, leaderOf, TestMember } from './members.ts';

const payload = 'x'.repeat(100_000);
const member = new TestMember(process.argv[2] ?? '', { settings: { diskSlowMs: 100 } });
await leaderOf([member]);

const acknowledged: number[] = [];
const isFull = (): boolean => member.diskProblems.length > 0;
const fill = async (): Promise<void> => {
  while (!isFull()) {
    const outcome = await member.propose(payload);
    if (outcome.kind === 'committed') acknowledged.push(outcome.index);
    // A member that stood still for a moment does not lead, and refuses at once: it needs a turn to lead again.
    else await setImmediate();
  }
};
const filled = fill();
while (!isFull()) await setTimeout(10);
const { kind } = await member.propose('no room');
console.log('full');
await once(process.stdin, 'data');

await filled;
const { index } = await commit([member], 'once more');
await member.stop();
const { diskProblems, fatalReason, words } = member;
console.log(JSON.stringify({ acknowledged, whileFull: kind, index, diskProblems, fatalReason, words: words.length }));
process.exit(0);
