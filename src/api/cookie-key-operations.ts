// Keys of signed session cookies for operators (contract.md §3.8): which there are, and another one before its time. No
// answer shows a key.

import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import { nextCookieKey } from '../leader/cookie-key-controller.ts';
import type { ShownCookieKey } from '../model/answers/endpoint-answers.ts';
import { type CookieKeys, cookieKeyName, cookieKeyUse } from '../model/cookie-keys.ts';
import { withoutBody } from '../resources/checked-body.ts';
import { idempotencyOf } from '../resources/preconditions.ts';
import { type Answer, type ApiRequest, revisionHeader } from '../resources/resource-answer.ts';
import type { StateReader } from '../resources/state-reader.ts';
import { acceptedHeaders } from '../resources/write-outcome.ts';
import type { Logger } from '../telemetry/logger.ts';

interface Parts {
  readonly reader: StateReader;
  readonly log: ReplicatedLog;
  readonly logger: Logger;
}

export class CookieKeyOperations {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with the names of the keys, the newest first. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader } = this.#parts;
    await reader.catchUp(request);
    const { applied, cookieKeys } = reader.view;
    return { status: 200, headers: revisionHeader(applied), body: JSON.stringify(shown(cookieKeys)) };
  }

  /** 200 with the keys after it. Rejects with CONFLICT when another was made at the same time. */
  async rotate(request: ApiRequest): Promise<Answer> {
    const { reader, log, logger } = this.#parts;
    const unknownFields = await withoutBody(request);
    const idempotency = idempotencyOf(request);
    // A rotation that another node has answered is not one at the same time.
    await reader.barrier();
    const result = await log.propose({ ...nextCookieKey(reader.view.cookieKeys.index), ...idempotency });
    const headers = { ...acceptedHeaders(result), ...unknownFields };
    logger.info({ by: request.caller.name, index: result.index }, 'another key of signed cookies is made');
    return { status: 200, headers, body: JSON.stringify(shown(reader.view.cookieKeys)) };
  }
}

const shown = ({ keys }: CookieKeys): readonly ShownCookieKey[] =>
  keys.map(({ key, madeAt }, place) => ({
    id: cookieKeyName(key),
    madeAt: new Date(madeAt).toISOString(),
    use: cookieKeyUse(place, keys.length),
  }));
