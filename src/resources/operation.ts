// Operations of the API, each declared as one value at its handler: path, method, right, body and answer. The routes, the
// OpenAPI document, the authorizer and the tests that walk all operations read these values.
import { applyDecorators, Delete, Get, HttpCode, Post, Put } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  ApiBody,
  type ApiBodyOptions,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiResponse,
  ApiSecurity,
} from '@nestjs/swagger';
import type { ApiErrorCode } from '../errors.ts';
import type { Right } from './caller.ts';
import {
  answerHeaders,
  chosenHeaders,
  type Described,
  errorResponse,
  largeHeadResponse,
  refusalOf,
  requestHeaders,
  schemaOf,
} from './operation-texts.ts';
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

interface OperationBody {
  readonly of: Described;
  readonly required: boolean;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

interface OperationAnswer {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** JSON that it holds; absent: none. */
  readonly of?: Described;
  /** Body of another content type. */
  readonly media?: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: readonly (keyof typeof answerHeaders)[];
}

interface Declaration {
  readonly id: string;
  readonly method: keyof typeof routeOf;
  /** Path below those of its controller, with `:name` for a parameter. */
  readonly path: string;
  /** Imperative and capitalised: `Create a route`. */
  readonly summary: string;
  readonly description?: string;
  readonly right: Right;
  readonly errors?: readonly ApiErrorCode[];
  /** Texts of refusals that mean something else here. */
  readonly refusals?: Readonly<Partial<Record<ApiErrorCode, string>>>;
  readonly headers?: readonly (keyof typeof requestHeaders)[];
  readonly query?: readonly (keyof typeof queryParameters)[];
  /** Parameters of the path. */
  readonly parameters?: readonly { readonly name: string; readonly description: string }[];
  readonly body?: OperationBody;
  /** Absent: a page for browsers, which the document does not list. */
  readonly answer?: OperationAnswer;
  readonly example?: OperationExample;
}

/** Operation with its handler. */
export interface DeclaredOperation extends Declaration {
  readonly controller: object;
  readonly handler: string | symbol;
}

const routeOf = { GET: Get, POST: Post, PUT: Put, DELETE: Delete } as const;

const declared = new Map<string, DeclaredOperation>();

/** Returns all operations whose controllers are loaded. */
export const operations = (): readonly DeclaredOperation[] => [...declared.values()];

/** Returns the operation with that `operationId`; all are known once their controllers are loaded. */
export const operationOf = (id: string): DeclaredOperation | undefined => declared.get(id);

/** Body of an answer that stays open. */
export const eventStream = {
  'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } },
};

/** Refusals of a change that goes through the log and needs something that is there. */
export const refusalsOfChange = ['NOT_FOUND', 'CONFLICT', 'TOO_LARGE', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const;

/** Declares a method of a controller as the handler of an operation. */
export function Operation(declaration: Declaration): MethodDecorator {
  const { id, method, path, summary, description, right } = declaration;
  const { errors = [], headers = [], query = [], refusals = {}, parameters = [], body, answer } = declaration;
  const changes = right === 'write' || right === 'administer';
  const config: OperationConfig = {
    id,
    right,
    phrase: summary.charAt(0).toLowerCase() + summary.slice(1),
    parameters: changes ? [...new Set([...query, ...ofReads])] : undefined,
  };
  return applyDecorators(
    registered(declaration),
    routeOf[method](path),
    ...(answer === undefined ? [] : [HttpCode(answer.status), answerResponse(answer)]),
    RouteConfig(config),
    ApiOperation({ operationId: id, summary, ...(description !== undefined && { description }) }),
    // Between nodes: none where nothing was agreed on and the address is private.
    ...(right === 'relay' ? [ApiSecurity({}), ApiSecurity('node')] : [ApiSecurity(right === 'none' ? {} : 'apiKey')]),
    ...parameters.map((parameter) => ApiParam({ ...parameter, schema: { type: 'string' } })),
    ...headers.map((name) => ApiHeader({ name, required: false, ...requestHeaders[name] })),
    ...query.map((name) => ApiQuery({ name, required: false, ...queryParameters[name] })),
    ...(body === undefined ? [] : [requestBody(body)]),
    ...[
      ...new Set([
        ...always,
        ...(changes ? (['INVALID'] as const) : []),
        ...headers.map((name) => refusalOf[name]),
        ...errors,
      ]),
    ].map((code) => errorResponse(code, refusals[code])),
    ...(query.some((name) => 'maxLength' in queryParameters[name].schema) ? [largeHeadResponse] : []),
  );
}

const registered =
  (declaration: Declaration): MethodDecorator =>
  (target, handler) => {
    const { id } = declaration;
    if (declared.has(id)) throw new Error(`two operations are called ${id}`);
    declared.set(id, { ...declaration, controller: target.constructor, handler });
  };

const requestBody = ({ of, ...more }: OperationBody): MethodDecorator =>
  ApiBody({ ...more, schema: schemaOf(of) } as ApiBodyOptions);

const answerResponse = ({ status, description, of, media, headers = [] }: OperationAnswer): MethodDecorator =>
  ApiResponse({
    status,
    description,
    ...(of !== undefined && { schema: schemaOf(of) }),
    ...(media !== undefined && { content: media }),
    ...(headers.length > 0 && { headers: chosenHeaders(headers) }),
  });

/** Parameters of reads, which writes ignore: they hold nothing back. */
const ofReads = ['consistency', 'minRevision', 'fieldValidation'];

const always = ['UNAUTHENTICATED', 'FORBIDDEN', 'INTERNAL'] as const;
