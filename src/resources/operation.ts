// Declaration of an operation of the API beside its path: the right it needs, and its entry in the OpenAPI
// document.
import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiOperation, ApiQuery, ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { type ApiErrorCode, apiErrors } from '../errors.ts';
import type { Right } from './caller.ts';
import { queryParameters } from './query-parameters.ts';

/** Configuration kept with the route, for the authorizer. */
export interface OperationConfig {
  /** `operationId` of the document. */
  readonly id: string;
  readonly right: Right;
  /** Completes "role viewer may not …". */
  readonly phrase: string;
  /** Query parameters that it takes; by other methods than GET no others. Undefined: others are ignored. */
  readonly parameters: readonly string[] | undefined;
}

/** Values with which an operation works as it is executed. */
interface OperationExample {
  /** Values of the parameters in the path. */
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface Declaration {
  readonly id: string;
  /** Imperative and capitalised: `Create a route`. */
  readonly summary: string;
  readonly description?: string;
  readonly right: Right;
  readonly errors?: readonly ApiErrorCode[];
  readonly headers?: readonly (keyof typeof requestHeaders)[];
  readonly query?: readonly (keyof typeof queryParameters)[];
  readonly example?: OperationExample;
}

const declared = new Map<string, Declaration>();

/** Returns the declaration of the operation with that `operationId`; all are known once their controllers are loaded. */
export const declarationOf = (id: string): Declaration | undefined => declared.get(id);

/** Refusals of a change that goes through the log and needs something that is there. */
export const refusalsOfChange = ['NOT_FOUND', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const;

/** A schema of the OpenAPI document by name; src/api/openapi.ts checks that all exist. */
export const schemaRef = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

/** Declares a method of a controller as an operation. */
export function Operation(declaration: Declaration) {
  const { id, summary, description, right, errors = [], headers = [], query = [] } = declaration;
  if (declared.has(id)) throw new Error(`two operations are called ${id}`);
  declared.set(id, declaration);
  const changes = right === 'write' || right === 'administer';
  const config: OperationConfig = {
    id,
    right,
    phrase: summary.charAt(0).toLowerCase() + summary.slice(1),
    parameters: changes ? [...new Set([...query, ...ofReads])] : undefined,
  };
  return applyDecorators(
    RouteConfig(config),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    // Between nodes: none where nothing was agreed on and the address is private.
    ...(right === 'relay' ? [ApiSecurity({}), ApiSecurity('node')] : [ApiSecurity(right === 'none' ? {} : 'apiKey')]),
    ...headers.map((name) => ApiHeader({ name, required: false, ...requestHeaders[name] })),
    ...query.map((name) => ApiQuery({ name, required: false, ...queryParameters[name] })),
    ...[
      ...new Set([
        ...always,
        ...(changes ? (['INVALID'] as const) : []),
        ...headers.map((name) => refusalOf[name]),
        ...errors,
      ]),
    ].map(errorResponse),
    ...(query.some((name) => 'maxLength' in queryParameters[name].schema) ? [largeHeadResponse] : []),
  );
}

/** A successful answer with a JSON body. `headers` name what it carries. */
export function Success(
  status: 200 | 201 | 202,
  description: string,
  schema: object,
  headers: readonly (keyof typeof answerHeaders)[],
) {
  return ApiResponse({ status, description, schema, headers: chosen(headers) });
}

/** A successful answer without a body. */
export const Gone = (description: string, headers: readonly (keyof typeof answerHeaders)[] = ['X-Sluice-Revision']) =>
  ApiResponse({ status: 204, description, headers: chosen(headers) });

/** Parameters of reads, which writes ignore: they hold nothing back. */
const ofReads = ['consistency', 'minRevision', 'fieldValidation'];

const always = ['UNAUTHENTICATED', 'FORBIDDEN', 'INTERNAL'] as const;

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

const errorResponse = (code: ApiErrorCode) =>
  ApiResponse({
    status: apiErrors[code],
    description: errorTexts[code],
    content: {
      'application/json': {
        schema: schemaRef('Error'),
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
const largeHeadResponse = ApiResponse({
  status: 431,
  description: 'The head of the request is larger than 16 KiB.',
  content: { 'application/json': { schema: schemaRef('Error') } },
});

const text = { type: 'string' } as const;

/** `*`, or entity tags; weak ones match nothing. */
export const ifMatchPattern = '^(\\*|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$';

/** Request headers without examples: explorers would send them, and the second request would be refused. */
const requestHeaders = {
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
const refusalOf = {
  'If-Match': 'PRECONDITION_FAILED',
  'Idempotency-Key': 'KEY_REUSED',
} as const satisfies Record<keyof typeof requestHeaders, ApiErrorCode>;

const answerHeaders = {
  ETag: { description: 'Revision of the resource, quoted, for `If-Match`.', schema: text },
  Location: { description: 'Path of the created resource.', schema: text },
  'X-Sluice-Revision': { description: 'Log index of the write, or of the state that was read.', schema: text },
  Warning: {
    description:
      'One `299` per unknown field that was dropped, per listener that does not listen after an activation, and for a ' +
      'change of what another owner maintains.',
    schema: text,
  },
  'X-Sluice-Installed': { description: 'Proxy workers that have installed it, of all: `2/2`.', schema: text },
} as const;

const chosen = (names: readonly (keyof typeof answerHeaders)[]) =>
  Object.fromEntries(names.map((name) => [name, { ...answerHeaders[name] }]));
