// `npm run simulate -- --seeds N [--from S] [--nodes 1..7] [--minutes M] [--plan file]`: whole clusters by seed.
// Prints progress, speed and the faults that struck; for a failing seed the command that replays it and the shortest
// list of faults that still breaks the same promise. Exits 1 when a promise was broken.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { FaultKind } from '../sim/fault.ts';
import { minimise } from '../sim/minimise.ts';
import { drawPlan, type Plan } from '../sim/plan.ts';
import { type RunResult, World } from '../sim/world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    nodes: { type: 'string' },
    minutes: { type: 'string' },
    plan: { type: 'string' },
    /** One line of JSON instead of a report, and no minimising: for programs. */
    json: { type: 'boolean', default: false },
  },
});

const from = Number(values.from);
const seeds = Number(values.seeds);
const nodes = values.nodes === undefined ? undefined : Number(values.nodes);
const startedAt = performance.now();
const endsAt = values.minutes === undefined ? Number.POSITIVE_INFINITY : startedAt + Number(values.minutes) * 60_000;

class Totals {
  readonly faults = new Map<FaultKind, number>();
  seeds = 0;
  events = 0;
  simulatedMs = 0;
  elections = 0;
  acknowledged = 0;
  sent = 0;
  lost = 0;
  duplicated = 0;
  replayed = 0;
  withoutPeace = 0;

  add(result: RunResult): void {
    this.seeds += 1;
    this.events += result.events;
    this.simulatedMs += result.simulatedMs;
    this.elections += result.elections;
    this.acknowledged += result.acknowledged;
    this.sent += result.messages.sent;
    this.lost += result.messages.lost;
    this.duplicated += result.messages.duplicated;
    this.replayed += result.messages.replayed;
    if (!result.hasPeace) this.withoutPeace += 1;
    for (const [kind, count] of result.faults) this.faults.set(kind, (this.faults.get(kind) ?? 0) + count);
  }

  line(): string {
    const seconds = (performance.now() - startedAt) / 1000;
    const hours = (this.simulatedMs / 3_600_000).toFixed(1);
    const rate = `${(this.seeds / seconds).toFixed(1)} seeds/s, ${Math.round(this.events / seconds)} events/s`;
    return `${this.seeds} seeds, ${hours} simulated hours, ${rate}`;
  }

  table(): string {
    const rows = [...this.faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `  ${kind} ${count}`);
    const messages = `messages ${this.sent}, lost ${this.lost}, duplicated ${this.duplicated}, replayed ${this.replayed}`;
    const work = `elections ${this.elections}, writes acknowledged ${this.acknowledged}`;
    return [
      messages,
      work,
      `seeds with too much destroyed for a liveness phase ${this.withoutPeace}`,
      'faults',
      ...rows,
    ].join('\n');
  }
}

const totals = new Totals();
let lastReport = startedAt;

for (const plan of plans()) {
  const result = new World(plan).run();
  totals.add(result);
  if (isDue(plan) || result.violation) checkDeterminism(plan, result);
  if (result.violation !== undefined) {
    reportFailure(plan, result.violation.rule, result.violation.message);
    process.exit(1);
  }
  if (performance.now() > endsAt) break;
  if (!values.json && performance.now() - lastReport > 5_000) {
    lastReport = performance.now();
    console.log(totals.line());
  }
}
if (values.json) console.log(JSON.stringify({ seeds: totals.seeds }));
else console.log(`${totals.line()}\n${totals.table()}\nno promise was broken`);

function* plans(): Generator<Plan> {
  if (values.plan !== undefined) yield JSON.parse(readFileSync(values.plan, 'utf8'));
  else for (let seed = from; seed < from + seeds; seed += 1) yield drawPlan(seed, nodes === undefined ? {} : { nodes });
}

/** B24: one seed in a hundred runs twice, and every failing one. */
function isDue({ seed }: Plan): boolean {
  return seed % 100 === 7;
}

function checkDeterminism(plan: Plan, first: RunResult): void {
  const second = new World(plan).run();
  if (second.hash === first.hash && second.events === first.events) return;
  console.error(`B24: seed ${plan.seed} runs differently the second time`);
  process.exit(1);
}

function reportFailure(plan: Plan, rule: string, message: string): void {
  if (values.json) {
    console.log(JSON.stringify({ seed: plan.seed, rule, message }));
    return;
  }
  console.error(`\nseed ${plan.seed} breaks ${message}`);
  console.error(
    `replay: npm run simulate -- --seeds 1 --from ${plan.seed}${nodes === undefined ? '' : ` --nodes ${nodes}`}`,
  );
  const smallest = minimise(plan, rule);
  const file = `simulation-${plan.seed}.json`;
  writeFileSync(file, JSON.stringify(smallest, undefined, 1));
  console.error(
    `${smallest.faults.length} of ${plan.faults.length} faults are enough; as a script: npm run simulate -- --plan ${file}`,
  );
  for (const { at, fault } of smallest.faults) console.error(`  ${at} ms ${JSON.stringify(fault)}`);
}
