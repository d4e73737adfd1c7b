// `POST /diff`: what a change does to entities, findings, routes, and the requests of the last minutes.

import { SluiceError } from '../../errors.ts';
import type { ConfigurationDifference, ReplayReport } from '../../model/answers/diff-answers.ts';
import { perKind } from '../../model/kinds.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { RecordedBatch } from '../../model/recent-request.ts';
import { maskable, valueWithoutTexts } from '../../model/secret-texts.ts';
import { RecordedRequests, type RecordSource } from '../../request-log/recorded-requests.ts';
import { passesOf } from '../../request-log/request-query.ts';
import { configurationOf } from '../../snapshot/build.ts';
import { scanEntities } from '../../snapshot/listing.ts';
import type { SecretSources } from '../../snapshot/secret-sources.ts';
import type { Captured } from '../../snapshot/staged.ts';
import { inSlices } from '../../util/time-slice.ts';
import { type ChosenConfiguration, chosenConfiguration } from '../configuration-choice.ts';
import type { Find } from '../findings/findings-report.ts';
import { objectBody } from '../json-body.ts';
import { jsonPieces } from '../json-pieces.ts';
import { secretTexts } from '../masked-values.ts';
import { fieldValidationOf } from '../query.ts';
import { type Answer, type ApiRequest, inPieces, revisionHeader } from '../resource-answer.ts';
import type { StateReader } from '../state-reader.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import { configurationDifference } from './configuration-difference.ts';
import { type DiffQuestion, diffQuestion, type ReplayQuestion } from './diff-question.ts';

/** Matches recorded requests against two configurations by the code that serves traffic. */
export type Replay = (
  from: Configuration,
  to: Configuration,
  batches: AsyncIterable<RecordedBatch>,
) => Promise<ReplayReport>;

/** Processes whose requests are replayed, and names of those that cannot be asked. */
export interface Recorders {
  readonly sources: readonly RecordSource[];
  readonly absent: readonly string[];
}

export type RecordersFor = (where: string | undefined) => Promise<Recorders>;

interface Parts {
  readonly reader: StateReader;
  readonly sources: SecretSources;
  readonly find: Find;
  readonly replay: Replay;
  readonly recorders: RecordersFor;
}

const nothing: Captured = { entities: perKind(() => []), values: {} };

export class DiffService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects with NOT_FOUND for a snapshot that is not there, and INVALID for a configuration that does not compile. */
  async diff(request: ApiRequest): Promise<Answer> {
    const { reader, find } = this.#parts;
    const unknown: string[] = [];
    const question = diffQuestion(await objectBody(request.body), unknown);
    const unknownFields = unknownFieldWarnings(unknown, fieldValidationOf(request));
    await reader.catchUp(request);
    const headers = { ...revisionHeader(reader.view.applied), ...unknownFields };
    const [from, to] = [await this.#first(question), await chosenConfiguration(this.#parts, question.to)];
    const recorders = question.replay && (await this.#recorders(question.replay));
    const difference = await configurationDifference(find, from?.captured, to.captured);
    const ends = { from: from?.snapshot ?? null, to: to.snapshot };
    const replayed = await this.#replay(question.replay, recorders, from?.captured ?? nothing, to.captured);
    const answer: ConfigurationDifference = { ...ends, ...difference, ...replayed };
    return { status: 200, headers, body: inPieces(jsonPieces(answer)) };
  }

  /** Undefined: nothing is active yet. */
  async #first({ from }: DiffQuestion): Promise<ChosenConfiguration | undefined> {
    if (from === 'active' && this.#parts.reader.view.active === undefined) return undefined;
    return await chosenConfiguration(this.#parts, from);
  }

  async #recorders({ where }: ReplayQuestion): Promise<Recorders> {
    try {
      passesOf(where);
      return await this.#parts.recorders(where);
    } catch (error) {
      throw error instanceof SluiceError ? inReplay(error) : error;
    }
  }

  async #replay(
    question: ReplayQuestion | undefined,
    recorders: Recorders | undefined,
    from: Captured,
    to: Captured,
  ): Promise<Pick<ConfigurationDifference, 'replay' | 'unreachable'>> {
    if (question === undefined || recorders === undefined) return { replay: null, unreachable: [] };
    const recorded = new RecordedRequests(recorders.sources);
    try {
      for (const { entities } of [from, to]) await inSlices(scanEntities(entities));
      const batches = recorded.newest(question.limit);
      const report = await this.#parts.replay(configurationOf(from), configurationOf(to), batches);
      const texts = maskable([...secretTexts(from), ...secretTexts(to)]);
      return {
        replay: texts.length === 0 ? report : (valueWithoutTexts(report, texts) as ReplayReport),
        unreachable: [...new Set([...recorders.absent, ...recorded.unreachable])].sort(),
      };
    } catch (error) {
      throw error instanceof SluiceError && error.message.startsWith('where: ') ? inReplay(error) : error;
    }
  }
}

const inReplay = ({ code, message }: SluiceError): SluiceError => new SluiceError(code, `/replay/${message}`);
