// Texts of operations in the OpenAPI document: their refusals, and the headers of requests and answers.
import { ApiResponse } from '@nestjs/swagger';
import { type ApiErrorCode, apiErrors } from '../errors.ts';
import { ErrorAnswer } from '../model/answers/error-answers.ts';
import { type HasSchema, type JsonSchema, schemaOfClass } from '../model/class-schema.ts';
import { ifMatchPattern } from '../model/pattern.ts';
import type { Class } from '../model/schema.ts';

/** Class or type of a body or an answer. */
export type Described = Class | HasSchema;

export const schemaOf = (described: Described): JsonSchema =>
  typeof described === 'function' ? schemaOfClass(described) : described.schema();

const errorTexts: Record<ApiErrorCode, string> = {
  INVALID: 'Malformed JSON, a failed validation, or an unresolved or dangling reference.',
  UNAUTHENTICATED: 'API keys are configured and the request carries none of them.',
  FORBIDDEN: 'The role of the API key does not allow it, or a web page of another origin asked.',
  NOT_FOUND: 'There is no such resource; of a repetition with an `Idempotency-Key`: it is deleted since.',
  METHOD_NOT_ALLOWED: 'The path has no such method; `Allow` names those it has.',
  CONFLICT: 'The name or the id is taken, or what was asked for does not go with what is active or under way.',
  GONE: 'A snapshot that it needs is deleted.',
  PRECONDITION_FAILED: '`If-Match` names another revision.',
  TOO_LARGE:
    'The body is larger than this path takes: 4 MiB and 20,000 keys of objects, a batch 32 MiB and 20,000 operations, ' +
    'a large one 128 MiB and 200,000, of which each is no larger than a body of its own.',
  TOO_MANY_KEYS: 'The body has more than 20,000 keys of objects.',
  NOT_LEADER: 'A relayed write reached a node that does not lead.',
  KEY_REUSED: 'The `Idempotency-Key` was used with another body, or another parameter that decides what is done.',
  FINDINGS: 'With `failOn`: the configuration has findings so grave, which the body lists.',
  INTERNAL: 'A bug.',
  UNAVAILABLE: 'Definitely not applied: no leader, no quorum, or the configuration is changing. Retry later.',
  OUTCOME_UNKNOWN: 'The outcome is not known yet: the write may have been applied; the body carries `requestId`.',
};

/** Response of a refusal. */
export const errorResponse = (code: ApiErrorCode, description = errorTexts[code]) =>
  ApiResponse({
    status: apiErrors[code],
    description,
    content: {
      'application/json': {
        schema: schemaOf(ErrorAnswer),
        ...(code === 'INVALID' && {
          examples: {
            beyondTheSchema: {
              summary: 'What no schema can say',
              value: { error: '/forward/destinations must have a weight above 0' },
            },
          },
        }),
      },
    },
  });

/** Response of the HTTP server before the look-up of an operation; only long parameters make a head so large. */
export const largeHeadResponse = ApiResponse({
  status: 431,
  description: 'The head of the request is larger than 16 KiB.',
  content: { 'application/json': { schema: schemaOf(ErrorAnswer) } },
});

const text = { type: 'string' } as const;

/** Request headers without examples: explorers would send them, and the second request would be refused. */
export const requestHeaders = {
  'If-Match': {
    description: 'Quoted revisions as in `ETag`: `"42"`; or `*`. Another revision is answered with 412.',
    schema: { type: 'string', pattern: ifMatchPattern },
  },
  'Idempotency-Key': {
    description: '1 to 128 visible characters. A repetition within 24 hours answers as the first request did.',
    schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
  },
};

/** Refusal that a header of a request can lead to. */
export const refusalOf = {
  'If-Match': 'PRECONDITION_FAILED',
  'Idempotency-Key': 'KEY_REUSED',
} as const satisfies Record<keyof typeof requestHeaders, ApiErrorCode>;

export const answerHeaders = {
  ETag: { description: 'Revision of the resource, quoted, for `If-Match`.', schema: text },
  Location: { description: 'Path of the created resource.', schema: text },
  'X-Sluice-Revision': { description: 'Log index of the write, or of the state that was read.', schema: text },
  Warning: {
    description:
      'One `299` per unknown field that was dropped, per listener that does not listen after an activation, and for a ' +
      'change of what another owner maintains.',
    schema: text,
  },
  'X-Sluice-Cluster': { description: 'Id of the cluster that numbers the events.', schema: text },
  'X-Sluice-Node': {
    description: 'The node that serves the stream, percent-encoded; only for those who introduce themselves.',
    schema: text,
  },
  'X-Sluice-Ack': { description: 'Names the stream in acknowledgements; only as above.', schema: text },
  'X-Sluice-Installed': { description: 'Proxy workers that have installed it, of all: `2/2`.', schema: text },
} as const;

export const chosenHeaders = (names: readonly (keyof typeof answerHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { ...answerHeaders[name] }]));
