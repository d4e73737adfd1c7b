// An exchange as middlewares see it, without a connection: a request made of texts, and what they changed of it.
import { randomUUIDv7 } from 'node:crypto';
import { RequestView } from '../../src/expression/cel/value-view.ts';
import { ConsumerDirectory } from '../../src/proxy/consumers/consumer-directory.ts';
import { Messages } from '../../src/proxy/exchange/messages.ts';
import type {
  LocalReply,
  MiddlewareExchange,
  MiddlewarePhases,
  MiddlewareResult,
} from '../../src/proxy/exchange/phase.ts';
import { editedLines, FieldEdits } from '../../src/proxy/fields/field-edits.ts';
import { FieldList } from '../../src/proxy/fields/field-lines.ts';
import type { ExchangeRequest } from '../../src/proxy/message/request.ts';
import { ExchangeResponse } from '../../src/proxy/message/response.ts';
import type { ServedSection } from '../../src/proxy/message/routed-request.ts';
import { ManualClock } from './manual-clock.ts';

export interface StubRequest {
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly authority?: string;
  readonly scheme?: 'http' | 'https';
  readonly clientIp?: string;
  readonly peerIp?: string;
  /** Names and values in turn. */
  readonly fields?: readonly string[];
  readonly clock?: ManualClock;
  readonly consumers?: ConsumerDirectory;
}

const section: ServedSection = {
  listener: { id: 'l1', name: 'edge', port: 8080n, section: 'shop' },
  ofListener: 'l1',
  ofSection: 'l1/shop',
  isServed: true,
};

export class StubExchange {
  readonly clock: ManualClock;
  readonly state: unknown[] = [];
  readonly response = new ExchangeResponse();
  readonly request: ExchangeRequest;
  readonly route = { id: 'r', name: 'route' };
  readonly group = undefined;
  readonly snapshot = { index: 7, id: 's', name: 'snapshot' };
  readonly role = 'stable';
  readonly consumers: ConsumerDirectory;
  startedMs: number;
  destinationId = '';
  endpoint = '';
  attempts = 0;
  error = '' as MiddlewareExchange['error'];
  attemptMs: number;
  connectMs = -1;
  upstreamMs = -1;
  requestBytes = 0;
  responseBytes = 0;
  aborted = false;
  abortReason = '' as const;
  // The product's own.
  readonly setRequestField = Messages.prototype.setRequestField;
  readonly appendRequestField = Messages.prototype.appendRequestField;
  readonly removeRequestField = Messages.prototype.removeRequestField;
  readonly tallies: string[] = [];

  tally(_slot: number, count: string, value: string, by: number): void {
    this.tallies.push(`${count} ${value} ${by}`);
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  constructor({
    method = 'GET',
    path = '/',
    query = '',
    authority = 'shop.example.com:8080',
    scheme = 'http',
    clientIp = '192.0.2.1',
    peerIp = clientIp,
    fields = [],
    clock = new ManualClock(),
    consumers = ConsumerDirectory.none,
  }: StubRequest = {}) {
    this.clock = clock;
    this.consumers = consumers;
    this.startedMs = clock.monotonicMs();
    this.attemptMs = this.startedMs;
    const lines = new FieldList(fields);
    const edits = new FieldEdits();
    const facts = {
      id: randomUUIDv7(),
      method,
      path,
      query,
      authority,
      host: authority.replace(/:\d+$/, ''),
      scheme,
      clientIp,
      section,
      listener: section.listener,
      lines,
      edits,
      protocol: 'HTTP/1.1',
      target: query === '' ? path : `${path}?${query}`,
      header: (name: string) => edits.combined(lines, name),
      *headers() {
        for (const [lower, , value] of editedLines(lines, edits)) yield [lower, value] as const;
      },
      sender: () => ({ peerIp, clientIp, peerTrusted: false, scheme, certificateUris: '' }),
    };
    const request = facts as unknown as ExchangeRequest & { view: RequestView };
    (request as { view: RequestView }).view = new RequestView(request);
    this.request = request;
  }

  /** Lines that the upstream would get, `name: value`, in order. */
  get sent(): readonly string[] {
    return [...editedLines(this.request.lines, this.request.edits)].map(([, name, value]) => `${name}: ${value}`);
  }

  /** A response with those fields is on its way; the same of what the client would get. */
  respond(status: number, fields: readonly string[], middleware: MiddlewarePhases): readonly string[] {
    this.response.local(status, fields, new Uint8Array());
    middleware.onResponse?.(this.seen, 0);
    const { lines, edits } = this.response;
    return [...editedLines(lines, edits)].map(([, name, value]) => `${name}: ${value}`);
  }

  get seen(): MiddlewareExchange {
    return this as unknown as MiddlewareExchange;
  }
}

/** Returns the decision of a middleware on a request. */
export const ask = (
  middleware: MiddlewarePhases,
  exchange: StubExchange,
): MiddlewareResult | Promise<MiddlewareResult> => middleware.onRequest?.(exchange.seen, 0);

/** Status and error text of a rejection; undefined when the request may go on. */
export async function rejectionOf(verdict: MiddlewareResult | Promise<MiddlewareResult>): Promise<string | undefined> {
  const reply: LocalReply | undefined = await verdict;
  if (reply === undefined) return undefined;
  const body: unknown = JSON.parse(String(reply.body));
  const text = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : '';
  return `${reply.status} ${text}`;
}
