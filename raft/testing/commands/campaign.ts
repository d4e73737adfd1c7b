// Runs whole simulated clusters by seed: prints progress, speed and the faults that struck; for a failing seed the command
// that replays it and the shortest list of faults that still breaks the same promise. Exits 1 when a promise was broken.
import { readFileSync, writeFileSync } from 'node:fs';
import type { PlanOptions } from '../sim/draw-plan.ts';
import type { FaultKind } from '../sim/fault.ts';
import { minimise } from '../sim/minimise.ts';
import type { Plan } from '../sim/plan.ts';
import type { RunResult } from '../sim/world.ts';
import { optionsOf } from './options.ts';

export interface Campaign {
  /** Command line that runs the campaign, up to the arguments. */
  readonly command: string;
  draw(seed: number, options: PlanOptions): Plan;
  run(plan: Plan): RunResult | Promise<RunResult>;
  /** Further lines of the report. */
  report?(): string;
}

const usage = `-- [--seeds N] [--from S] [--nodes 1..7] [--minutes M] [--plan FILE] [--json]

  --seeds     how many; default 500
  --from      the first; default 1
  --nodes     of every cluster; drawn for each otherwise
  --minutes   stops after so long
  --plan      the script of a failing seed, in place of seeds
  --json      one line of JSON in place of a report, and no minimising: for programs
`;

/** By the arguments of the process; see `usage`. */
export async function campaign({ command, draw, run, report }: Campaign): Promise<void> {
  const { values } = optionsOf(
    import.meta.url,
    {
      options: {
        seeds: { type: 'string', default: '500' },
        from: { type: 'string', default: '1' },
        nodes: { type: 'string' },
        minutes: { type: 'string' },
        plan: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    },
    () => `${command} ${usage}`,
  );
  const totals = new Totals();
  const endsAt =
    values.minutes === undefined ? Number.POSITIVE_INFINITY : totals.startedAt + Number(values.minutes) * 60_000;
  const shape = values.nodes === undefined ? {} : { nodes: Number(values.nodes) };
  let lastReport = totals.startedAt;

  for (const plan of plans()) {
    const result = await run(plan);
    totals.add(result);
    if (isDue(plan) || result.violation) await checkDeterminism(plan, result);
    if (result.violation !== undefined) {
      await reportFailure(plan, result.violation.rule, result.violation.message);
      process.exit(1);
    }
    if (performance.now() > endsAt) break;
    if (!values.json && performance.now() - lastReport > 5_000) {
      lastReport = performance.now();
      console.log(totals.line());
    }
  }
  if (values.json) console.log(JSON.stringify({ seeds: totals.seeds }));
  else console.log([totals.line(), totals.table(), ...(report ? [report()] : []), 'no promise was broken'].join('\n'));

  function* plans(): Generator<Plan> {
    const [from, seeds] = [Number(values.from), Number(values.seeds)];
    if (values.plan !== undefined) yield JSON.parse(readFileSync(values.plan, 'utf8'));
    else for (let seed = from; seed < from + seeds; seed += 1) yield draw(seed, shape);
  }

  async function checkDeterminism(plan: Plan, first: RunResult): Promise<void> {
    const second = await run(plan);
    if (second.hash === first.hash && second.events === first.events) return;
    console.error(`B24: seed ${plan.seed} runs differently the second time`);
    process.exit(1);
  }

  async function reportFailure(plan: Plan, rule: string, message: string): Promise<void> {
    if (values.json) {
      console.log(JSON.stringify({ seed: plan.seed, rule, message }));
      return;
    }
    const nodes = values.nodes === undefined ? '' : ` --nodes ${values.nodes}`;
    console.error(`\nseed ${plan.seed} breaks ${message}`);
    console.error(`replay: ${command} -- --seeds 1 --from ${plan.seed}${nodes}`);
    const smallest = await minimise(plan, rule, run);
    const file = `simulation-${plan.seed}.json`;
    writeFileSync(file, JSON.stringify(smallest, undefined, 1));
    const enough = `${smallest.faults.length} of ${plan.faults.length} faults are enough`;
    console.error(`${enough}; as a script: ${command} -- --plan ${file}`);
    for (const { at, fault } of smallest.faults) console.error(`  ${at} ms ${JSON.stringify(fault)}`);
  }
}

/** B24: one seed in a hundred runs twice, and every failing one. */
function isDue({ seed }: Plan): boolean {
  return seed % 100 === 7;
}

class Totals {
  readonly startedAt = performance.now();
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
    const seconds = (performance.now() - this.startedAt) / 1000;
    const hours = (this.simulatedMs / 3_600_000).toFixed(1);
    const rate = `${(this.seeds / seconds).toFixed(1)} seeds/s, ${Math.round(this.events / seconds)} events/s`;
    return `${this.seeds} seeds, ${hours} simulated hours, ${rate}`;
  }

  table(): string {
    const rows = [...this.faults].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `  ${kind} ${count}`);
    return [
      `messages ${this.sent}, lost ${this.lost}, duplicated ${this.duplicated}, replayed ${this.replayed}`,
      `elections ${this.elections}, writes acknowledged ${this.acknowledged}`,
      `seeds with too much destroyed for a liveness phase ${this.withoutPeace}`,
      'faults',
      ...rows,
    ].join('\n');
  }
}
