// Body checked by its class: its valid fields, and headers that name the unknown ones.
import { SluiceError } from '../errors.ts';
import type { JsonObject } from '../model/json-object.ts';
import { describe, pointerOf } from '../model/problem.ts';
import type { Class } from '../model/schema.ts';
import { parseInSteps } from '../model/validation.ts';
import { inSlices, runSliced } from '../util/time-slice.ts';
import { optionalBody } from './json-body.ts';
import { fieldValidationOf } from './query.ts';
import type { ApiRequest } from './resource-answer.ts';
import { unknownFieldWarnings } from './unknown-fields.ts';
import type { Warnings } from './warnings.ts';

export interface CheckedBody<T> {
  /** Fields as they were sent: absent fields are absent. */
  readonly fields: T;
  readonly unknownFields: Warnings;
}

/** Checks a body. Rejects with INVALID, naming every wrong field, and unknown ones where the request is strict about them. */
export async function checkedBody<T extends object>(
  cls: Class<T>,
  body: JsonObject,
  request: ApiRequest,
): Promise<CheckedBody<T>> {
  const validation = fieldValidationOf(request);
  const { entity, problems, unknown } = await runSliced(request.body.length, parseInSteps(cls, body), inSlices);
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
  // Checked by its class just now.
  return { fields: entity as T, unknownFields: unknownFieldWarnings(unknown, validation) };
}

/** Resolves as `withoutFields` does of the body of a request that takes none. Rejects with INVALID also for what is no object. */
export const withoutBody = async (request: ApiRequest): Promise<Warnings> =>
  withoutFields(await optionalBody(request.body), request);

/** Returns headers that name the fields of a body that should have none. Throws INVALID where the request is strict. */
export const withoutFields = (body: JsonObject, request: ApiRequest): Warnings =>
  unknownFieldWarnings(
    Object.keys(body).map((field) => pointerOf(field)),
    fieldValidationOf(request),
  );
