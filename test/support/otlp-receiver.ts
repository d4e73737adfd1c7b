// A collector of a test: takes OTLP over HTTP as protocol buffers, by field numbers of its own description, and refuses
// what is none (opentelemetry-proto, trace/v1/trace.proto).
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import { eventually } from './eventually.ts';

const messages = `
syntax = "proto3";
package otlp;
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; string schema_url = 3; }
message Scope { string name = 1; string version = 2; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; }
}
message ArrayValue { repeated AnyValue values = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9;
  uint32 dropped_attributes_count = 10; repeated Event events = 11; uint32 dropped_events_count = 12; Status status = 15;
  fixed32 flags = 16;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Status { string message = 2; int32 code = 3; }
`;

const exportRequest = protobuf.parse(messages, { keepCase: true }).root.lookupType('otlp.ExportTraceServiceRequest');

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[];
  readonly resource: Readonly<Record<string, unknown>>;
  /** Unix nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
}

/** `take`: 200. A number: that status. `silent`: no answer at all. */
export type Behaviour = 'take' | number | 'silent';

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly posts: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }[] = [];
  behaviour: Behaviour = 'take';
  port = 0;
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      this.posts.push({ path: request.url ?? '', headers: request.headers, text: body.toString('latin1') });
      this.#answer(body, response);
    });
  });

  async start(port = 0): Promise<this> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves once all spans that `wanted` names, or more, have come. */
  async until(look: (spans: readonly ReceivedSpan[]) => void, withinMs = 120_000): Promise<readonly ReceivedSpan[]> {
    await eventually(() => look(this.spans), { withinMs });
    return this.spans;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(body: Buffer, response: ServerResponse): void {
    if (this.behaviour === 'silent') return;
    if (this.behaviour !== 'take') {
      response.writeHead(this.behaviour).end();
      return;
    }
    try {
      this.spans.push(...spansIn(body));
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  }
}

interface Decoded {
  readonly resource_spans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scope_spans: readonly { readonly spans: readonly DecodedSpan[] }[];
  }[];
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface DecodedSpan {
  readonly trace_id: Buffer;
  readonly span_id: Buffer;
  readonly parent_span_id: Buffer;
  readonly name: string;
  readonly kind: number;
  readonly start_time_unix_nano: string;
  readonly end_time_unix_nano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly { readonly name: string; readonly attributes: readonly KeyValue[] }[];
  readonly status?: { readonly code?: number } | null;
}

const kinds = { 1: 'internal', 2: 'server', 3: 'client' } as const;

function spansIn(body: Buffer): ReceivedSpan[] {
  const options = { longs: String, bytes: Buffer, arrays: true, defaults: true };
  const decoded = exportRequest.toObject(exportRequest.decode(body), options) as unknown as Decoded;
  return decoded.resource_spans.flatMap(({ resource, scope_spans }) => {
    const said = attributesOf(resource.attributes);
    return scope_spans.flatMap(({ spans }) => spans.map((span) => received(span, said)));
  });
}

function received(span: DecodedSpan, resource: Readonly<Record<string, unknown>>): ReceivedSpan {
  const kind = kinds[span.kind as keyof typeof kinds];
  if (kind === undefined) throw new Error(`kind ${span.kind}`);
  if (span.trace_id.length !== 16 || span.span_id.length !== 8) throw new Error('ids of another length');
  return {
    traceId: span.trace_id.toString('hex'),
    spanId: span.span_id.toString('hex'),
    parentId: span.parent_span_id.toString('hex'),
    name: span.name,
    kind,
    failed: span.status?.code === 2,
    attributes: attributesOf(span.attributes),
    events: span.events.map(({ name, attributes }) => ({ name, attributes: attributesOf(attributes) })),
    resource,
    start: BigInt(span.start_time_unix_nano),
    end: BigInt(span.end_time_unix_nano),
  };
}

function attributesOf(pairs: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, textOrNumber(value)]));
}

function textOrNumber(value: Readonly<Record<string, unknown>>): unknown {
  if ('int_value' in value) return Number(value.int_value);
  const [found] = Object.values(value);
  return found;
}
