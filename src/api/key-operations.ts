// API keys for operators (contract.md §3.11): which there are, another one, one less. A key is shown once, as it is made.
import { randomUUID } from 'node:crypto';
import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import { SluiceError } from '../errors.ts';
import type { ListedApiKey, MadeApiKey } from '../model/answers/key-answers.ts';
import { type Role, roles } from '../model/api-role.ts';
import { keyDigest, keyNameMax, newKeyText } from '../model/managed-keys.ts';
import { withoutBody, withoutFields } from '../resources/checked-body.ts';
import { objectBody } from '../resources/json-body.ts';
import { idempotencyOf } from '../resources/preconditions.ts';
import { type Answer, type ApiRequest, revisionHeader } from '../resources/resource-answer.ts';
import type { StateReader } from '../resources/state-reader.ts';
import type { Warnings } from '../resources/warnings.ts';
import { acceptedHeaders } from '../resources/write-outcome.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ApiKeys, ShownKey } from './api-keys.ts';

interface Parts {
  readonly reader: StateReader;
  readonly log: ReplicatedLog;
  readonly keys: ApiKeys;
  readonly logger: Logger;
}

export class KeyOperations {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** 200 with the keys, without themselves. */
  async list(request: ApiRequest): Promise<Answer> {
    const { reader, keys } = this.#parts;
    await reader.catchUp(request);
    const body = JSON.stringify(keys.list().map(shown));
    return { status: 200, headers: revisionHeader(reader.view.applied), body };
  }

  /** 201 with the key itself. Rejects with INVALID, and with CONFLICT where the API is open, and for a repetition: nothing has the key any more. */
  async create(request: ApiRequest): Promise<Answer> {
    const { reader, log, keys, logger } = this.#parts;
    const { name, role, warnings } = await holderOf(request);
    if (keys.isOpen)
      throw new SluiceError(
        'CONFLICT',
        'the settings have no API keys, so that every caller is an admin: set one there first',
      );
    const key = newKeyText();
    const { name: by } = request.caller;
    const id = randomUUID();
    const command = { op: 'apiKey', id, name, role, digest: keyDigest(key), by } as const;
    const result = await log.propose({ ...command, ...idempotencyOf(request) });
    const headers = acceptedHeaders(result);
    if (result.id !== id) throw madeBefore(result.id);
    logger.info({ by, holder: name, role, key: id }, 'an API key is made');
    const made = reader.view.managedKeys.keys.find((each) => each.id === id);
    const createdAt = made?.createdAt ?? null;
    const answer: MadeApiKey = { ...shown({ id, name, role, createdAt, createdBy: by, lastUsedAt: null }), key };
    const body = JSON.stringify(answer);
    return { status: 201, headers: { ...headers, ...warnings }, body };
  }

  /** 204. Rejects with INVALID and NOT_FOUND. */
  async revoke(id: string, request: ApiRequest): Promise<Answer> {
    const { reader, log, keys, logger } = this.#parts;
    const unknownFields = await withoutBody(request);
    if (!keys.counts(id)) {
      await reader.barrier();
      if (!keys.counts(id)) throw new SluiceError('NOT_FOUND', `API key ${JSON.stringify(id)} not found`);
    }
    const result = await log.propose({ op: 'revokeApiKey', id });
    const headers = { ...acceptedHeaders(result), ...unknownFields };
    logger.info({ by: request.caller.name, key: id }, 'an API key is revoked');
    return { status: 204, headers, body: '' };
  }
}

const madeBefore = (id: string): SluiceError =>
  new SluiceError(
    'CONFLICT',
    `API key "${id}" was made with this Idempotency-Key, and is shown once: revoke it and make another`,
  );

interface Holder {
  readonly name: string;
  readonly role: Role;
  readonly warnings: Warnings;
}

async function holderOf(request: ApiRequest): Promise<Holder> {
  const { name, role, ...rest } = await objectBody(request.body);
  const warnings = withoutFields(rest, request);
  if (typeof name !== 'string' || name === '' || [...name].length > keyNameMax)
    throw new SluiceError('INVALID', `/name must be a text of 1 to ${keyNameMax} characters`);
  const known = roles.find((each) => each === role);
  if (known === undefined) throw new SluiceError('INVALID', `/role must be one of ${roles.join(', ')}`);
  return { name, role: known, warnings };
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const shown = ({ id, name, role, createdAt, createdBy, lastUsedAt }: ShownKey): ListedApiKey => ({
  ...{ id, name, role, source: id === null ? 'settings' : 'cluster' },
  ...{ createdAt: timeOf(createdAt), createdBy, lastUsedAt: timeOf(lastUsedAt) },
});
