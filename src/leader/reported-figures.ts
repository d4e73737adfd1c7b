// Reported figures of a rollout, from the nodes of the cluster (fleet.md §7): each node reports the counts of its
// proxies since it learned of the rollout, and the counts since the step began are the difference to its report at
// that time.

import type { MirrorFigures } from '../expression/cel/roots.ts';
import type { RolloutReport, TrafficWindow } from '../model/fleet-messages.ts';
import { noShadow, sumOfShadows } from '../model/shadow.ts';
import { noTraffic, since, sumOf, sumOfMirrors, type TrafficCounts } from '../model/traffic-windows.ts';
import type { CountedRefusal, FleetFigures, StepFigures } from './fleet-figures.ts';
import { variantFigures } from './variant-figures.ts';

/** Returns the latest report of each node, by its name; the last one for nodes that report no more. */
export type RolloutReports = () => ReadonlyMap<string, RolloutReport>;

interface Counted {
  readonly life: string;
  /** Told before the step began. */
  readonly candidate: TrafficCounts;
  readonly stable: TrafficCounts;
}

export class ReportedFigures implements FleetFigures {
  readonly #reports: RolloutReports;
  #rollout = '';
  #began = new Map<string, Counted>();
  /** Counts of ended lives of nodes, within this step. */
  #candidate: TrafficCounts[] = [];
  #stable: TrafficCounts[] = [];
  #last: ReadonlyMap<string, RolloutReport> = new Map();

  constructor(words: RolloutReports) {
    this.#reports = words;
  }

  begin(rollout: string): void {
    this.#rollout = rollout;
    this.#candidate = [];
    this.#stable = [];
    this.#last = this.#current();
    this.#began = new Map(
      [...this.#last].map(([node, { life, candidate, stable }]) => [node, { life, candidate, stable }]),
    );
  }

  figures(): StepFigures | undefined {
    const words = this.#current();
    for (const [node, word] of words) this.#turnOver(node, word);
    this.#last = words;
    const candidate = [...this.#candidate];
    const stable = [...this.#stable];
    const proxies = { total: 0, installed: 0, refused: 0 };
    for (const [node, word] of words) {
      const began = this.#began.get(node);
      candidate.push(since(word.candidate, began?.candidate ?? noTraffic));
      stable.push(since(word.stable, began?.stable ?? noTraffic));
      proxies.total += word.proxies.length;
      for (const { state } of word.proxies) if (state !== 'pending') proxies[state]++;
    }
    return {
      candidate: variantFigures(windows(candidate, 'candidate')),
      stable: variantFigures(windows(stable, 'stable')),
      proxies,
      mirror: mirrorFigures([...candidate, ...stable]),
      shadow: sumOfShadows(candidate.map(({ shadow }) => shadow)) ?? noShadow,
    };
  }

  refusals(): readonly CountedRefusal[] {
    const proxies = [...this.#current().values()].flatMap((word) => word.proxies);
    return proxies.filter(({ state }) => state === 'refused').map(({ id, problems = [] }) => ({ proxy: id, problems }));
  }

  #current(): ReadonlyMap<string, RolloutReport> {
    return new Map([...this.#reports()].filter(([, { rollout }]) => rollout === this.#rollout));
  }

  /** Handles a node that was started anew and counts from zero: its earlier counts stay counted. */
  #turnOver(node: string, word: RolloutReport): void {
    const last = this.#last.get(node);
    const began = this.#began.get(node);
    if (last === undefined || last.life === word.life) return;
    this.#candidate.push(since(last.candidate, began?.candidate ?? noTraffic));
    this.#stable.push(since(last.stable, began?.stable ?? noTraffic));
    this.#began.set(node, { life: word.life, candidate: noTraffic, stable: noTraffic });
  }
}

const windows = (counts: readonly TrafficCounts[], of: 'stable' | 'candidate'): TrafficWindow[] => [
  { of, rollout: null, ...counts.reduce(sumOf, noTraffic) },
];

/** Returns the figures of both configurations: mirrors of either are compared. */
function mirrorFigures(counts: readonly TrafficCounts[]): MirrorFigures {
  const { compared, mismatched } = sumOfMirrors(counts.map(({ mirror }) => mirror)) ?? { compared: 0, mismatched: 0 };
  return { compared, mismatchShare: compared === 0 ? 0 : mismatched / compared };
}
