// Scalars, the kinds of single values: one constant or function per kind of value of contract.md §0.3, with the check
// and the OpenAPI fragment side by side. `field.ts` makes decorators of them; lists and maps take them as elements.
import { min as isAtLeast, max as isAtMost, isIn, isInt } from 'class-validator';
import { checkCel, expressionMax, type ResultKind } from '../expression/cel/compiled-program.ts';
import { checkRegex } from '../expression/regex.ts';
import { byteSizePattern, parseByteSize } from './byte-size.ts';
import { canonicalLocation } from './canonical-path.ts';
import { parseCidr } from './cidr.ts';
import { parseDuration } from './duration.ts';
import { isHostPattern, isServerName, parseAuthority, parseHost } from './host-name.ts';
import { isUserName, parseHtpasswd } from './htpasswd.ts';
import { idLengthMax, idPattern, listenerReferencePattern } from './id.ts';
import { parsePasswordHash } from './password-hash.ts';
import {
  absolutePathPattern,
  authorityPattern,
  cidrPattern,
  durationPattern,
  hostMatcherPattern,
  hostPattern as hostNamePattern,
  locationPattern,
  orSecret,
  pathAndQueryPattern,
  pathLiteralPattern,
  serverNamePattern,
  targetPattern,
  uriPattern,
  waitTimeoutPattern,
  wantPattern,
} from './pattern.ts';
import { holdsSecret } from './secret-reference.ts';
import { apiKeyPattern, apiKeyProblem, storedKey } from './stored-api-key.ts';

/** The part of an OpenAPI schema that follows from the kind of value. */
export interface ScalarSchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly format?: string;
  readonly enum?: (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
}

export interface TextScalar {
  readonly json: 'string';
  readonly schema: ScalarSchema;
  /** Problem of a non-empty text, as the end of a sentence: `must be …`; undefined when it is valid. */
  readonly check: (text: string) => string | undefined;
  /** An empty text is a value of its own and not the absence of one (J5). */
  readonly mayBeEmpty?: true;
  /** Canonical form in which a valid text is stored; absent: as it was sent. Texts with references are left alone. */
  readonly canonical?: (text: string) => string;
  /** Checked at once even when it holds `{{secret:` (J12): values that are used before any resolution. */
  readonly literal?: true;
}

export interface NumberScalar {
  readonly json: 'number';
  readonly schema: ScalarSchema;
  readonly check: (value: number) => string | undefined;
}

export interface FlagScalar {
  readonly json: 'boolean';
  readonly schema: ScalarSchema;
}

export type Scalar = TextScalar | NumberScalar | FlagScalar;

export const uintMax = 4_294_967_295;

const articles = { string: 'a string', number: 'a finite number', boolean: 'true or false' } as const;

/**
 * Problem of the JSON type of a value. No coercion (J7). `1e999` is read as infinite and has no JSON type. An
 * integer is a type of its own (J8): typed receivers read it into 32 bits, in blocks that are not chosen too.
 */
export const typeProblemOf = (scalar: Scalar, value: unknown): string | undefined => {
  if (typeof value !== scalar.json || (typeof value === 'number' && !Number.isFinite(value)))
    return `must be ${articles[scalar.json]}`;
  const isInteger = scalar.json === 'number' && scalar.schema.type === 'integer';
  return isInteger && typeof value === 'number' && !isUint(value) ? scalar.check(value) : undefined;
};

const isUint = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= uintMax;

/** Returns the problem of a value of unknown type; undefined when it is valid. */
export const scalarProblemOf = (scalar: Scalar, value: unknown): string | undefined => {
  if (scalar.json === 'string' && typeof value === 'string') return textProblem(scalar, value);
  const problem = typeProblemOf(scalar, value);
  return problem === undefined && scalar.json === 'number' && typeof value === 'number' ? scalar.check(value) : problem;
};

/** A value without problems of its type as it is stored. */
export const storedValue = (scalar: Scalar, value: unknown): unknown => {
  const canonical = scalar.json === 'string' ? scalar.canonical : undefined;
  return canonical === undefined || typeof value !== 'string' || holdsSecret(value) ? value : canonical(value);
};

const textProblem = (scalar: TextScalar, text: string): string | undefined => {
  if (text === '') return scalar.mayBeEmpty ? undefined : 'must not be empty';
  return holdsSecret(text) && !scalar.literal ? undefined : scalar.check(text);
};

const textual = (
  schema: Omit<ScalarSchema, 'type'>,
  check: TextScalar['check'],
  traits: Pick<TextScalar, 'mayBeEmpty' | 'literal' | 'canonical'> = {},
): TextScalar => ({
  json: 'string',
  schema: {
    type: 'string',
    ...schema,
    ...(schema.pattern !== undefined && !traits.literal && { pattern: orSecret(schema.pattern) }),
  },
  check,
  ...traits,
});

/** Text that matches a pattern; the pattern is shown in the OpenAPI document. */
const matching = (pattern: RegExp, message: string, traits?: Pick<TextScalar, 'literal' | 'canonical'>): TextScalar =>
  textual({ pattern: pattern.source }, (text) => (pattern.test(text) ? undefined : message), traits);

/** Any text but the empty one. */
export const text: TextScalar = textual({ minLength: 1 }, () => undefined);

/** Any text, the empty one included. */
export const textOrEmpty: TextScalar = textual({}, () => undefined, { mayBeEmpty: true });

export const name: TextScalar = textual({ minLength: 1 }, () => undefined, { literal: true });

const idMessage = `must be 1 to ${idLengthMax} characters of A-Z a-z 0-9 . _ ~ : -`;

/** Id of the entity itself. */
export const id: TextScalar = matching(idPattern, idMessage, { literal: true });

/** Id of another entity; it need not exist. */
export const reference: TextScalar = matching(idPattern, idMessage);

/** Name of a section of a listener, which has the form of an id. */
export const sectionName: TextScalar = matching(idPattern, idMessage, { literal: true });

/** Id of a listener, or of one and of a section of it: `<listener>/<section>`. They need not exist. */
export const listenerReference: TextScalar = matching(
  listenerReferencePattern,
  'must be the id of a listener, or <listener>/<section>',
);

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const tokenMessage = "must be a token: letters, digits and !#$%&'*+-.^_`|~";

/** Header names, cookie names: RFC 9110 §5.6.2. */
export const token: TextScalar = matching(tokenPattern, tokenMessage);

/** A method, stored in upper case: methods of requests are compared as they are (RFC 9110 §9.1). */
export const method: TextScalar = matching(tokenPattern, tokenMessage, { canonical: (text) => text.toUpperCase() });

/** A header name, or the start of one followed by `*` (contract.md §8.0). `*` is a token character. */
export const namePattern: TextScalar = token;

/** Characters of a field value: no CR, LF, NUL or other control character but the tab (RFC 9110 §5.5). */
const fieldContent = /^[\t -~\u0080-\uffff]+$/;

/** A text that becomes a header value or a part of one. */
export const line: TextScalar = textual({ minLength: 1, pattern: fieldContent.source }, (value) =>
  fieldContent.test(value) ? undefined : 'must not contain control characters',
);

/** Substitution of a pattern in a path. */
export const substitution: TextScalar = textual({}, (text) => pathProblem(text), { mayBeEmpty: true });

/** A path without a query that this proxy answers by itself. */
export const absolutePath: TextScalar = pathText(absolutePathPattern, (text) =>
  text.includes('?') ? 'must not hold a ?: queries are not compared' : asked(text),
);

/** Target of a request that Sluice itself sends: a path, and a query behind `?`. */
export const target: TextScalar = pathText(targetPattern, asked);

/** A path, or a part of one, that paths of requests are compared with. */
export const pathLiteral: TextScalar = pathText(pathLiteralPattern, (text) =>
  text.includes('?') ? 'must not hold a ?: a query is matched by queryParams' : pathProblem(text),
);

/** A path that takes the place of another, and a query behind `?`. A slash at its beginning may be left out. */
export const pathAndQuery: TextScalar = pathText(pathAndQueryPattern, (text) => line.check(text) ?? pathProblem(text));

/** A URL, or a reference to one (RFC 3986 §4.1), as Location has it. */
export const location: TextScalar = textual({ minLength: 1, pattern: locationPattern }, (value) =>
  canonicalLocation(value) === undefined
    ? 'must be a URL or a part of one, without control characters, with a host that DNS can know'
    : undefined,
);

function pathText(pattern: string, check: TextScalar['check']): TextScalar {
  return textual({ minLength: 1, pattern }, check);
}

function asked(text: string): string | undefined {
  if (!/^\/[!-~\u0080-\uffff]*$/.test(text)) return 'must start with / and hold no blanks or control characters';
  return /%(?![0-9A-Fa-f]{2})/.test(text) ? 'must hold two hexadecimal digits behind each %' : pathProblem(text);
}

/** Returns the problem of a path that has no canonical form. */
function pathProblem(text: string): string | undefined {
  if (text.includes('#')) return 'must not hold a #: no fragment is ever sent';
  if (text.includes('\0') || text.includes('%00')) return 'must not hold NUL';
  return text.isWellFormed() ? undefined : 'must not hold half a character';
}

export const duration: TextScalar = textual({ format: 'duration-string', pattern: durationPattern }, (value) => {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) return 'must be a duration such as 500ms, 1.5s or 1h30m';
  return milliseconds < 0 ? 'must not be negative' : undefined;
});

/** Bounds of the period of a rate limit, in milliseconds. */
const limitPeriodMs = { min: 1000, max: 86_400_000 };

/** Period in which the tokens of a rate limit come back. */
export const limitPeriod: TextScalar = textual({ format: 'duration-string', pattern: durationPattern }, (value) => {
  const milliseconds = parseDuration(value) ?? 0;
  const isWithin = milliseconds >= limitPeriodMs.min && milliseconds <= limitPeriodMs.max;
  return isWithin ? undefined : 'must be a duration from 1s to 24h';
});

/** Number of bytes, with or without the unit `B`, `KiB` or `MiB`, up to a limit. */
export const byteSize = (max: number): TextScalar =>
  textual({ pattern: byteSizePattern }, (value) => {
    const bytes = parseByteSize(value);
    if (bytes === undefined) return 'must be a number of bytes such as 512, 64KiB or 1MiB';
    return bytes > max ? `must be at most ${max} bytes` : undefined;
  });

/** JSON pointer (RFC 6901) below the root; a segment `*` stands for any name or index. */
export const jsonPointer: TextScalar = matching(
  /^(\/([^~/]|~[01])*)+$/,
  'must be a JSON pointer such as /items/*/id, with ~0 for ~ and ~1 for /',
);

/** Proxies that an activation waits for. */
export const want: TextScalar = matching(
  new RegExp(wantPattern),
  'must be all, a number of proxies such as 12, or a share such as 90%',
  { literal: true },
);

/** Longest wait for proxies, in milliseconds. */
export const waitMsMax = 60_000;

export const waitTimeout: TextScalar = textual(
  { format: 'duration-string', pattern: waitTimeoutPattern },
  (value) => {
    const milliseconds = parseDuration(value) ?? 0;
    return milliseconds > 0 && milliseconds <= waitMsMax ? undefined : 'must be a duration above 0 and of at most 60s';
  },
  { literal: true },
);

export const regex: TextScalar = textual({ format: 're2', minLength: 1, maxLength: 4096 }, (value) => {
  const problem = checkRegex(value);
  return problem === undefined ? undefined : `must be a regular expression in RE2 syntax: ${problem}`;
});

/** A CEL expression over `request`, over it and `response`, over `claims` or over what guards of a rollout see, that yields a value of that kind (contract.md §6.6). */
export const cel = (
  environment: 'request' | 'response' | 'claims' | 'guard',
  result: ResultKind = 'bool',
): TextScalar =>
  textual({ format: 'cel', minLength: 1, maxLength: expressionMax }, (value) => {
    const problem = checkCel(value, environment, result);
    return problem === undefined ? undefined : `must be a CEL expression: ${problem}`;
  });

export const host: TextScalar = textual({ format: 'host', pattern: hostNamePattern }, (value) =>
  parseHost(value) === undefined ? 'must be a host name or an IP address, without scheme and port' : undefined,
);

export const authority: TextScalar = textual({ format: 'host', pattern: authorityPattern }, (value) =>
  parseAuthority(value) === undefined ? 'must be a host name or an IP address, with or without a port' : undefined,
);

export const hostPattern: TextScalar = textual({ format: 'host-pattern', pattern: hostMatcherPattern }, (value) =>
  isHostPattern(value) ? undefined : 'must be a host name, an IP address, *.suffix or *',
);

/** Server name of TLS (RFC 6066 §3), or a wildcard for one label of it, or for any number. */
export const serverName: TextScalar = textual({ format: 'server-name', pattern: serverNamePattern }, (value) =>
  isServerName(value) ? undefined : 'must be a host name, *.suffix or **.suffix',
);

/** URI with a scheme, as certificates name services: `spiffe://trust/ns/shop` (RFC 3986 §3). */
export const uri: TextScalar = textual({ format: 'uri', pattern: uriPattern }, (value) =>
  uriText.test(value) ? undefined : 'must be a URI with a scheme',
);

const uriText = new RegExp(uriPattern);

export const cidr: TextScalar = textual({ format: 'cidr', pattern: cidrPattern }, (value) =>
  parseCidr(value) === undefined ? 'must be an IP address or a range such as 10.0.0.0/8' : undefined,
);

/** PEM text. Its content is not checked: unusable material breaks only what it belongs to (contract.md §2.11). */
export const pem: TextScalar = textual({ format: 'pem', minLength: 1 }, () => undefined);

const mediaRangePattern = /^(?:\*\/\*|[!#$%&'+.^_`|~0-9A-Za-z-]+\/(?:\*|[!#$%&'+.^_`|~0-9A-Za-z-]+))$/;

/** Media type without parameters, `type/*` or `*\u002f*` (RFC 9110 §12.5.1). */
export const mediaRange: TextScalar = matching(mediaRangePattern, 'must be a media type, type/* or */*');

/** Lines `name:hash` of htpasswd. */
export const htpasswd: TextScalar = textual({ minLength: 1 }, (value) => {
  const users = parseHtpasswd(value);
  return typeof users === 'string' ? users : undefined;
});

/** Key of a consumer, stored as its hash. */
export const apiKey: TextScalar = textual({ minLength: 1, pattern: apiKeyPattern.source }, apiKeyProblem, {
  canonical: storedKey,
});

const usernameLengthMax = 255;

/** Name of a user, as a line of htpasswd has it (RFC 7617 §2). */
export const username: TextScalar = textual(
  { minLength: 1, maxLength: usernameLengthMax, pattern: '^[^:\\u0000-\\u001f\\u007f]+$' },
  (value) =>
    isUserName(value) && value.length <= usernameLengthMax
      ? undefined
      : `must be a name of 1 to ${usernameLengthMax} characters without a colon or control characters`,
);

/** Hash of one password. */
export const passwordHash: TextScalar = textual({ minLength: 1 }, (value) => {
  const parsed = parsePasswordHash(value);
  return typeof parsed === 'string' ? `must be the hash of a password: it ${parsed}` : undefined;
});

export const timestamp: TextScalar = textual({ format: 'date-time' }, () => undefined);

/** One status or a range of them: `200`, `200-299`, within 100…599 and in order. */
export const statusRange: TextScalar = textual(
  { format: 'status-range', pattern: '^[1-5][0-9]{2}(-[1-5][0-9]{2})?$' },
  (value) => {
    const [, low, high = low] = /^([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?$/.exec(value) ?? [];
    return low !== undefined && Number(low) <= Number(high) ? undefined : 'must be a status or a range such as 200-299';
  },
);

/** Statuses of errors, each alone or as a range: 400 to 599. Rules of the API count on them, so secrets do not stand for them. */
export const errorStatusRange: TextScalar = textual(
  { format: 'status-range', pattern: '^[45][0-9]{2}(-[45][0-9]{2})?$' },
  (value) => (/^[45]/.test(value) ? statusRange.check(value) : 'must be a status from 400 to 599, or a range of them'),
  { literal: true },
);

/** Path of a file of a stored body: absolute, in its shortest form. A secret does not stand for it. */
export const bodyPath: TextScalar = textual(
  { minLength: 1, pattern: '^/' },
  (value) =>
    !value.startsWith('/') || value.includes('\0') || /(^|\/)\.\.?(\/|$)/.test(value)
      ? 'must be an absolute path, without . and .. in it'
      : undefined,
  { literal: true },
);

/** Place of an access log. Its check is that of the node, which knows the directories of `proxy.accessLogDirectories`. */
export const logPath: TextScalar = textual({ minLength: 1, pattern: '^(stdout|stderr|/.*[^/])$' }, () => undefined);

export const oneOf = (values: readonly string[]): TextScalar =>
  textual({ enum: [...values] }, (value) =>
    isIn(value, [...values]) ? undefined : `must be one of ${values.join(', ')}`,
  );

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** An integer 0…4294967295 or within narrower bounds (J8). */
export const uint = ({ min = 0, max = uintMax }: Bounds = {}): NumberScalar => ({
  json: 'number',
  schema: { type: 'integer', minimum: min, maximum: max },
  check: (value) =>
    isInt(value) && isAtLeast(value, min) && isAtMost(value, max)
      ? undefined
      : `must be an integer from ${min} to ${max}`,
});

export const port: NumberScalar = uint({ min: 1, max: 65_535 });

/** One of a few integers, such as redirect codes. */
export const oneOfNumbers = (values: readonly number[]): NumberScalar => ({
  json: 'number',
  schema: { type: 'integer', enum: [...values] },
  check: (value) => (isIn(value, [...values]) ? undefined : `must be one of ${values.join(', ')}`),
});

export const decimal: NumberScalar = { json: 'number', schema: { type: 'number' }, check: () => undefined };

export const flag: FlagScalar = { json: 'boolean', schema: { type: 'boolean' } };

/** Highest limit of a request body: a tebibyte. */
export const requestBodyBytesMax = 2 ** 40;
