// Explanations of a request by the active configuration, the staged one or any snapshot: the route that would serve it, and
// the reasons of the others.
import type { Explanation, RequestExplanation } from '../../model/answers/explanation.ts';
import type { ConnectionExplanation, StreamExplanation } from '../../model/answers/stream-explanation.ts';
import { hiddenIn } from '../../model/hidden.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { configurationOf, secretsOf } from '../../snapshot/build.ts';
import type { SecretSources } from '../../snapshot/secret-sources.ts';
import { chosenConfiguration } from '../configuration-choice.ts';
import { objectBody } from '../json-body.ts';
import { fieldValidationOf, showsSecrets } from '../query.ts';
import { type Answer, type ApiRequest, revisionHeader } from '../resource-answer.ts';
import type { StateReader } from '../state-reader.ts';
import { unknownFieldWarnings } from '../unknown-fields.ts';
import { type ExplainQuestion, explainQuestion } from './explain-question.ts';
import { maskedExplanation } from './masked-explanation.ts';

/** Explains by the code that serves traffic. `key` names an immutable configuration; undefined for others. */
export type Explain = (
  key: string | undefined,
  configurationOf: () => Configuration,
  question: ExplainQuestion,
) => Promise<RequestExplanation | ConnectionExplanation>;

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
    const { key, captured, snapshot } = await chosenConfiguration(this.#parts, question.snapshot);
    const headers = { ...revisionHeader(reader.view.applied), ...unknownFields };
    const answer = (explained: RequestExplanation | ConnectionExplanation): Answer => {
      const explanation: Explanation | StreamExplanation = { snapshot, ...explained, notes: [] };
      return { status: 200, headers, body: JSON.stringify(explanation) };
    };
    const configuration = () => configurationOf(captured);
    if (isResolved) return answer(await explain(key && `${key} resolved`, configuration, question));
    const marked = () => hiddenIn(configuration(), secretsOf(captured));
    return answer(maskedExplanation(await explain(key, marked, question), captured));
  }
}
