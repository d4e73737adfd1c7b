// `GET /findings`: what is wrong with the staged configuration, the active one, or a snapshot.

import { countsOf } from '../../findings/finding.ts';
import type { Findings } from '../../model/answers/finding-answers.ts';
import type { SecretSources } from '../../snapshot/secret-sources.ts';
import { chosenConfiguration } from '../configuration-choice.ts';
import { jsonPieces } from '../json-pieces.ts';
import { textOf } from '../query.ts';
import { type Answer, type ApiRequest, inPieces, revisionHeader } from '../resource-answer.ts';
import type { StateReader } from '../state-reader.ts';
import { type Find, keptFindings, unusedSecrets } from './findings-report.ts';

interface Parts {
  readonly reader: StateReader;
  readonly sources: SecretSources;
  readonly find: Find;
}

export class FindingsService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rejects with NOT_FOUND for a snapshot that is not there, and INVALID for a configuration that does not compile. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader, find } = this.#parts;
    const of = textOf(request, 'of') ?? 'staged';
    await reader.catchUp(request);
    const started = performance.now();
    const index = reader.view.applied;
    const { captured, secrets = [] } = await chosenConfiguration(this.#parts, of);
    const findings = [...(await keptFindings(find, captured)), ...unusedSecrets(captured, secrets)];
    const tookMs = Math.round(performance.now() - started);
    const answer: Findings = { of, index, findings, counts: countsOf(findings), tookMs };
    return { status: 200, headers: revisionHeader(index), body: inPieces(jsonPieces(answer)) };
  }
}
