// The field `traceparent` of W3C Trace Context: who asks on behalf of which trace. What does not read like one is treated
// as if it were not there.

export interface TraceParent {
  /** 32 lower-case hexadecimal digits, not all zero. */
  readonly traceId: string;
  /** 16 of them: the caller's span. */
  readonly parentId: string;
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const noTrace = '0'.repeat(32);
const noSpan = '0'.repeat(16);

/** Undefined for what is none. A version that is not known yet is read as far as this one goes (§4, Versioning). */
export function parseTraceParent(text: string): TraceParent | undefined {
  const found = form.exec(text);
  if (found === null) return undefined;
  const [, version, traceId = '', parentId = '', flags = '', more] = found;
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (traceId === noTrace || parentId === noSpan) return undefined;
  return { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Version 00. */
export const formatTraceParent = (traceId: string, spanId: string, sampled: boolean): string =>
  `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;

/** Trace id of a valid `traceparent`. */
export const traceIdIn = (traceparent: string): string => traceparent.slice(3, 35);

const lineStart = 'traceparent: ';

/** As a field line of HTTP/1.1. */
export const lineOf = (traceparent: string): string => `${lineStart}${traceparent}\r\n`;

/** The other way round. */
export const traceParentIn = (line: string): string => line.slice(lineStart.length, -2);

/** Places in the line of a version 00, from its beginning. */
export const placeInLine = {
  traceId: lineStart.length + 3,
  spanId: lineStart.length + 36,
  /** The flags' last digit: `1` = it is recorded. */
  flag: lineStart.length + 54,
} as const;
