// `npm run raft:explore -- [--nodes N] [--depth D] [--elections E] [--proposals P] [--heartbeats H] [--crashes C]
// [--duplicates U] [--late-writes] [--states S] [--seconds T]`: every order of messages, timeouts, writes and crashes
// of a small cluster within these bounds. Prints how many states there were; for a broken promise the way to it.
// Exits 1 when a promise was broken.
import { explore } from '../explore/explore.ts';
import { optionsOf } from './options.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    nodes: { type: 'string', default: '3' },
    depth: { type: 'string', default: '16' },
    elections: { type: 'string', default: '2' },
    proposals: { type: 'string', default: '2' },
    heartbeats: { type: 'string', default: '1' },
    crashes: { type: 'string', default: '0' },
    duplicates: { type: 'string', default: '0' },
    /** A write ends when the exploration says so: crashes lose those that have not. */
    'late-writes': { type: 'boolean', default: false },
    states: { type: 'string', default: '5000000' },
    seconds: { type: 'string', default: '600' },
  },
});

const startedAt = performance.now();
const elapsedMs = (): number => performance.now() - startedAt;
const { broken, isComplete, states, steps } = explore(
  {
    nodes: Number(values.nodes),
    elections: Number(values.elections),
    proposals: Number(values.proposals),
    heartbeats: Number(values.heartbeats),
    crashes: Number(values.crashes),
    duplicates: Number(values.duplicates),
    writesAtOnce: !values['late-writes'],
  },
  {
    depth: Number(values.depth),
    states: Number(values.states),
    isOver: () => elapsedMs() > Number(values.seconds) * 1000,
  },
);

const end = isComplete ? 'all of them' : 'not all of them';
console.log(`${states} states by ${steps} steps, ${end}, in ${(elapsedMs() / 1000).toFixed(1)} s`);
if (broken !== undefined) {
  console.error(`${broken.message}\n  ${broken.way.join('\n  ')}`);
  process.exitCode = 1;
} else console.log('no promise was broken');
