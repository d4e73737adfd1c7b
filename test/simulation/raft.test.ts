import { drawLargeEntries, drawPlan } from '../../raft/testing/sim/draw-plan.ts';
import { type RunResult, World } from '../../raft/testing/sim/world.ts';

const seeds = 500;
const groupSize = 50;
/** Beyond the range: seeds that found something once. */
const findings = [
  [302_478, 'a checkpoint that arrives after the appends it was sent instead of'],
  [301_355, 'heartbeats of a leader that is gone, delivered again for a minute'],
  [207_707, 'a slow disk that slowed down again in peace'],
  [103_420, 'an election won by votes that are counted after a later term began'],
  [9_004_336, 'clients that miss a stable leader for as long as the check waits'],
  [20_003_952, 'a process that is woken up for peace before its timers are'],
  [30_002_182, 'a pause within a longer one that woke a process without its timers'],
  [91_017_542, 'a process that ends itself in peace, for a write that hung before, and is long away'],
  [91_023_995, 'a removed voter that was told so, and insists on what lies behind an entry it holds for open'],
  [95_003_239, 'a demoted voter that insists on an entry which the only voter lost'],
  [95_020_127, 'a disk that is wiped after it lost its tail'],
  [120_051_909, 'a joint configuration that is written and not synced when peace is made'],
  [503_263, 'a removed voter whose log would win against a learner that is behind'],
] as const;
const largeEntrySeeds = 40;
/** Seeds that run a second time; a calm one and a large cluster are among them. */
const repeatEvery = 25;

describe('raft in the simulator', () => {
  for (let first = 1; first <= seeds; first += groupSize) {
    const last = first + groupSize - 1;
    it(`keeps every promise for seeds ${first} to ${last}`, () => {
      for (let seed = first; seed <= last; seed += 1) keepsEveryPromise(seed);
    });
  }

  for (const [seed, name] of findings)
    it(`keeps every promise for seed ${seed}: ${name}`, () => keepsEveryPromise(seed));

  it('elects no new leader because entries of 32 MiB travel and are written', () => {
    for (let seed = 1; seed <= largeEntrySeeds; seed += 1) {
      const { violation, acknowledged } = new World(drawLargeEntries(seed)).run();
      if (violation !== undefined) throw new Error(`with large entries seed ${seed} breaks ${violation.message}`);
      if (acknowledged < 100) throw new Error(`with large entries seed ${seed} acknowledged ${acknowledged} writes`);
    }
  });

  it('runs a seed the same way each time', () => {
    for (let seed = repeatEvery; seed <= seeds; seed += repeatEvery) {
      const [one, other] = [run(seed), run(seed)];
      if (one.hash !== other.hash || one.events !== other.events)
        throw new Error(`seed ${seed} runs differently the second time; replay: ${replay(seed)}`);
    }
  });
});

function run(seed: number): RunResult {
  return new World(drawPlan(seed)).run();
}

function keepsEveryPromise(seed: number): void {
  const { violation, acknowledged, hasPeace } = run(seed);
  if (violation !== undefined) throw new Error(`seed ${seed} breaks ${violation.message}; replay: ${replay(seed)}`);
  // A cluster that does nothing keeps every promise.
  if (hasPeace && acknowledged === 0) throw new Error(`seed ${seed} acknowledged no write; replay: ${replay(seed)}`);
}

function replay(seed: number): string {
  return `npm run simulate -- --seeds 1 --from ${seed}`;
}
