// Field `traceparent` of W3C Trace Context: trace and span of the caller. A malformed one is treated as
// absent.

export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** Id of the caller's span, 16 digits. */
  readonly parentId: string;
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Parses a `traceparent`; undefined for a malformed one. Of an unknown version the known part is read (§4, Versioning). */
export function parseTraceParent(text: string): TraceParent | undefined {
  const found = form.exec(text);
  if (found === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = found;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === noTrace || parentId === noSpan) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats a `traceparent` of version 00. */
export const formatTraceParent = (traceId: string, spanId: string, sampled: boolean): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** Trace id of a valid `traceparent`. */
export const traceIdIn = (traceparent: string): string => traceparent.slice(3, 35);

const lineStart = 'traceparent: ';

/** Field line of HTTP/1.1 with the value. */
export const lineOf = (traceparent: string): string => `${lineStart}${traceparent}\r\n`;

/** Value of a field line. */
export const traceParentIn = (line: string): string => line.slice(lineStart.length, -2);

/** Offsets in the line of a version 00. */
export const placeInLine = {
  traceId: lineStart.length + 3,
  spanId: lineStart.length + 36,
  /** Last digit of the flags: `1` = sampled. */
  flag: lineStart.length + 54,
} as const;
