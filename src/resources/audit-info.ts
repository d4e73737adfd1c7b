// Audit info of a change: its caller, and the comment, which is the one field that a body of these operations may
// have.
import { ActivationRequest } from '../model/activation-request.ts';
import type { AuditInfo } from '../state/command.ts';
import type { Caller } from './caller.ts';
import { checkedBody } from './checked-body.ts';
import { optionalBody } from './json-body.ts';
import type { ApiRequest } from './resource-answer.ts';
import type { Warnings } from './warnings.ts';

/** Returns the caller and the fields of the body, and headers that name its unknown fields. Rejects with INVALID, TOO_MANY_KEYS. */
export async function auditInfoOf(
  request: ApiRequest,
): Promise<{ readonly audit: AuditInfo; readonly unknownFields: Warnings }> {
  const { fields, unknownFields } = await checkedBody(ActivationRequest, await optionalBody(request.body), request);
  return { audit: { ...callerOf(request.caller), ...fields }, unknownFields };
}

/** Name of the caller; absent without API keys. */
export const callerOf = ({ name }: Caller): AuditInfo => (name === '' ? {} : { by: name });
