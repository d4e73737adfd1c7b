// Operations on the log levels of this node: reads the request, changes them, writes the answer.

import { SluiceError } from '../errors.ts';
import { isAbsentText } from '../model/json-object.ts';
import { logLevels, logModules } from '../model/log-module.ts';
import { pointerOf } from '../model/problem.ts';
import { objectBody } from '../resources/json-body.ts';
import { fieldValidationOf } from '../resources/query.ts';
import type { Answer, ApiRequest } from '../resources/resource-answer.ts';
import { unknownFieldWarnings } from '../resources/unknown-fields.ts';
import { type LogLevels } from '../telemetry/log-levels.ts';
import type { Logger } from '../telemetry/logger.ts';

export class LogLevelOperations {
  readonly #levels: LogLevels;
  readonly #logger: Logger;

  constructor(levels: LogLevels, logger: Logger) {
    this.#levels = levels;
    this.#logger = logger;
  }

  read(): Answer {
    return { status: 200, headers: {}, body: JSON.stringify(this.#levels.all) };
  }

  /** Rejects with INVALID. */
  async set(request: ApiRequest): Promise<Answer> {
    const { body, caller } = request;
    const { level, module, ...unknown } = await objectBody(body);
    const pointers = Object.keys(unknown).map((field) => pointerOf(field));
    const unknownFields = unknownFieldWarnings(pointers, fieldValidationOf(request));
    const chosen = oneOf('level', level, logLevels);
    const of = isAbsentText(module) ? undefined : oneOf('module', module, logModules);
    this.#levels.set(chosen, of);
    const who = { to: chosen, ...(of !== undefined && { of }), ...(caller.name !== '' && { key: caller.name }) };
    this.#logger.warn(who, 'the log level is changed');
    return { status: 200, headers: { ...unknownFields }, body: JSON.stringify(this.#levels.all) };
  }
}

function oneOf<T extends string>(field: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined) throw new SluiceError('INVALID', `/${field} must be one of ${allowed.join(', ')}`);
  return found;
}
