// Explanations of a request by the active configuration, the staged one or any snapshot: the route that would serve it, and
// the reasons of the others.
import { SluiceError } from '../../errors.ts';
import { hiddenIn } from '../../model/hidden.ts';
import { describe } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { configurationOf, secretsOf } from '../../snapshot/build.ts';
import { resolveReferences } from '../../snapshot/collect.ts';
import { scanEntities } from '../../snapshot/listing.ts';
import type { SecretSources } from '../../snapshot/secret-sources.ts';
import { type Captured, stagedOf } from '../../snapshot/staged.ts';
import { inSlices } from '../../util/time-slice.ts';
import { objectBody } from '../json-body.ts';
import { fieldValidationOf, showsSecrets } from '../query.ts';
import { type Answer, type ApiRequest, revisionHeader } from '../resource-answer.ts';
import { notFound, type StateReader } from '../state-reader.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import { type ExplainQuestion, explainQuestion } from './explain-question.ts';
import { maskedExplanation } from './masked-explanation.ts';

/** Explains by the code that serves traffic. `key` names an immutable configuration; undefined for others. */
export type Explain = (
  key: string | undefined,
  configurationOf: () => Configuration,
  question: ExplainQuestion,
) => Promise<object>;

interface Parts {
  readonly reader: StateReader;
  readonly sources: SecretSources;
  readonly explain: Explain;
}

export class ExplainService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async explain(request: ApiRequest): Promise<Answer> {
    const { reader, explain } = this.#parts;
    const isResolved = showsSecrets(request);
    const unknown: string[] = [];
    const question = explainQuestion(await objectBody(request.body), unknown);
    const unknownFields = unknownFieldWarnings(unknown, fieldValidationOf(request));
    await reader.catchUp(request);
    const { key, captured, snapshot } = await this.#chosen(question.snapshot);
    const headers = { ...revisionHeader(reader.view.applied), ...unknownFields };
    const answer = (explanation: object): Answer => ({
      status: 200,
      headers,
      body: JSON.stringify({ snapshot, ...explanation, notes: [] }),
    });
    const configuration = () => configurationOf(captured);
    if (isResolved) return answer(await explain(key && `${key} resolved`, configuration, question));
    const marked = () => hiddenIn(configuration(), secretsOf(captured));
    return answer(maskedExplanation(await explain(key, marked, question), captured));
  }

  async #chosen(choice: string): Promise<{ key: string | undefined; captured: Captured; snapshot: string }> {
    const { view } = this.#parts.reader;
    if (choice === 'staged') return { ...(await this.#staged()), snapshot: choice };
    const id = choice === 'active' ? view.active?.snapshotId : choice;
    if (id === undefined) throw new SluiceError('NOT_FOUND', 'no snapshot is active');
    const captured = view.snapshot(id);
    if (captured === undefined) throw notFound('snapshots', id);
    return { key: id, captured, snapshot: id };
  }

  /** Returns the staged configuration as a capture would have it now. Rejects with INVALID when a reference has no value. */
  async #staged(): Promise<{ key: string | undefined; captured: Captured }> {
    const { reader, sources } = this.#parts;
    const staged = stagedOf(reader.view);
    await inSlices(scanEntities(staged.entities));
    const { values, external, problems } = await resolveReferences(staged, sources);
    if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
    // Variables and files may change without a new revision.
    const isSettled = Object.keys(external).length === 0;
    return {
      key: isSettled ? `staged ${staged.changedAt}` : undefined,
      captured: { entities: staged.entities, values },
    };
  }
}
