// Replay: recorded requests, matched again against two configurations, in time slices.

import { SluiceError } from '../../errors.ts';
import type { ReplayReport } from '../../model/answers/diff-answers.ts';
import { describe } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { RecordedBatch, RecordedRequest } from '../../model/recent-request.ts';
import { inSlices, Pauses } from '../../util/time-slice.ts';
import { compileForQuestion, questionsWaitingMax } from '../compile/compile-in-slices.ts';
import { type ReplayTable, replayTable } from './replay-table.ts';
import { ReplayTally } from './replay-tally.ts';
import { Comparison } from './replayed-outcome.ts';

/** Rejects with INVALID when a configuration cannot be compiled, and UNAVAILABLE where too many wait for it. */
export async function replay(
  from: Configuration,
  to: Configuration,
  batches: AsyncIterable<RecordedBatch>,
): Promise<ReplayReport> {
  const comparison = await inSlices(Comparison.of(await tableOf(from), await tableOf(to)));
  const tally = new ReplayTally();
  const pauses = new Pauses();
  for await (const { requests, ...names } of batches) {
    for (const recorded of requests) {
      tally.add(asShown(recorded), comparison.changeOf(recorded, names));
      // Batches may be as small as one request.
      if (pauses.isDue) await pauses.pause();
    }
  }
  return tally.report();
}

async function tableOf(configuration: Configuration): Promise<ReplayTable> {
  const { table, problems } = await compileForQuestion(() => configuration, questionsWaitingMax);
  if (table === undefined) throw new SluiceError('INVALID', describe(problems));
  return inSlices(replayTable(configuration, table));
}

function asShown({ isCut: _, lacksParams: __, ...request }: RecordedRequest): Parameters<ReplayTally['add']>[0] {
  return request;
}
