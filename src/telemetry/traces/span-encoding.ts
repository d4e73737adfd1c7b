// Spans as OTLP has them (opentelemetry-proto, trace/v1/trace.proto): each is written once, in the thread where it ended,
// and the exporter only puts a head before them.
import type { Attributes, AttributeValue } from '@opentelemetry/api';
import type { FinishedSpan } from './finished-span.ts';
import { MessageWriter } from './protobuf-writer.ts';

/** Spans one after the other, as fields `spans` of `ScopeSpans`. */
export interface PackedSpans {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

const scopeSpans = { scope: 1, spans: 2 } as const;
const spanField = {
  ...{ traceId: 1, spanId: 2, parentId: 4, name: 5, kind: 6, start: 7, end: 8, attributes: 9, events: 11 },
  ...{ droppedEvents: 12, status: 15, flags: 16 },
} as const;
const eventField = { time: 1, name: 2, attributes: 3 } as const;
const statusField = { message: 2, code: 3 } as const;
/** `SpanFlags`: the parent is known to be in another process. */
const remoteKnown = 0x100;
const remoteParent = 0x200;
const sampled = 1;

export function writeSpan(out: MessageWriter, span: FinishedSpan): void {
  const { status, startTime, endTime, remote, keys, values, droppedEvents } = span;
  const whole = out.begin(scopeSpans.spans);
  out.hex(spanField.traceId, span.traceId);
  out.hex(spanField.spanId, span.spanId);
  if (span.parentId !== '') out.hex(spanField.parentId, span.parentId);
  out.text(spanField.name, span.name);
  // 0 means unspecified there.
  out.integer(spanField.kind, span.kind + 1);
  out.nanos(spanField.start, startTime[0], startTime[1]);
  out.nanos(spanField.end, endTime[0], endTime[1]);
  for (let i = 0; i < keys.length; i++) writeAttribute(out, spanField.attributes, keys[i] ?? '', values[i] ?? '');
  for (const { name, time, attributes } of span.events) {
    const event = out.begin(spanField.events);
    out.nanos(eventField.time, time[0], time[1]);
    out.text(eventField.name, name);
    writeAttributes(out, eventField.attributes, attributes);
    out.end(event);
  }
  if (droppedEvents > 0) out.integer(spanField.droppedEvents, droppedEvents);
  if (status.code !== 0) {
    const told = out.begin(spanField.status);
    if (status.message !== undefined) out.text(statusField.message, status.message);
    out.integer(statusField.code, status.code);
    out.end(told);
  }
  out.fixed32(spanField.flags, sampled | remoteKnown | (remote ? remoteParent : 0));
  out.end(whole);
}

/** Source of spans: the resource, and `scope`, the part of the program. */
export interface SpanOrigin {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

/** Message `ExportTraceServiceRequest` of spans of one origin. */
export function exportRequestOf({ resource, scope }: SpanOrigin, spans: readonly PackedSpans[]): Uint8Array {
  const out = new MessageWriter();
  const resourceSpans = out.begin(1);
  const who = out.begin(1);
  writeAttributes(out, 1, resource);
  out.end(who);
  const ofScope = out.begin(2);
  const part = out.begin(scopeSpans.scope);
  out.text(1, scope.name);
  out.text(2, scope.version);
  out.end(part);
  for (const { bytes } of spans) out.raw(bytes);
  out.end(ofScope);
  out.end(resourceSpans);
  return out.take();
}

function writeAttributes(out: MessageWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) writeAttribute(out, field, key, value);
  }
}

/** `KeyValue`. */
function writeAttribute(out: MessageWriter, field: number, key: string, value: AttributeValue): void {
  const name = keyOf(key);
  if (typeof value === 'string' && out.shortPair(field, name, value)) return;
  const pair = out.begin(field);
  out.raw(name);
  writeValue(out, 2, value);
  out.end(pair);
}

/** Field `key` of `KeyValue`, by name: there are few. */
const keys = new Map<string, Uint8Array>();
const keysMax = 256;

function keyOf(name: string): Uint8Array {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const writer = new MessageWriter();
  writer.text(1, name);
  const bytes = writer.take();
  if (keys.size < keysMax) keys.set(name, bytes);
  return bytes;
}

/** `AnyValue`. */
function writeValue(out: MessageWriter, field: number, value: AttributeValue | null | undefined): void {
  const any = out.begin(field);
  if (typeof value === 'string') out.text(1, value);
  else if (typeof value === 'boolean') out.integer(2, value ? 1 : 0);
  else if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) out.integer(3, value);
    else out.double(4, value);
  } else if (Array.isArray(value)) {
    const list = out.begin(5);
    for (const each of value) writeValue(out, 1, each);
    out.end(list);
  }
  out.end(any);
}
