// Runs under a limit of file size that stands for a full disk: commits until a write fails, then goes on asking.
// Prints one JSON line: what was acknowledged before and after, and the reason it gave up. Waits in between until
// the parent has lifted the limit and written a line.
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

import { leaderOf, TestMember } from './members.ts';

const payload = 'x'.repeat(100_000);
const member = new TestMember(process.argv[2] ?? '');
await leaderOf([member]);

const acknowledged: number[] = [];
while (member.fatalReason === undefined) {
  const outcome = await member.propose(payload);
  if (outcome.kind === 'committed') acknowledged.push(outcome.index);
  // A member that stood still for a moment does not lead, and refuses at once: it needs a turn to lead again.
  else await setImmediate();
}
console.log('full');
await once(process.stdin, 'data');

const afterwards: string[] = [];
for (let n = 0; n < 20; n++) afterwards.push((await member.propose('once more')).kind);
await member.stop();
console.log(JSON.stringify({ acknowledged, afterwards, fatalReason: member.fatalReason }));
process.exit(0);
