import { expect } from 'chai';
import fc from 'fast-check';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import type { Downstream } from '../../../../src/proxy/exchange/downstream.ts';
import type { ExchangeEntry, Link } from '../../../../src/proxy/exchange/entry.ts';
import { Exchange } from '../../../../src/proxy/exchange/exchange.ts';
import type { ExchangeContext } from '../../../../src/proxy/exchange/exchange-context.ts';
import type { LocalReply, MiddlewareResult } from '../../../../src/proxy/exchange/phase.ts';
import type { ExchangeResponse } from '../../../../src/proxy/message/response.ts';
import { loopbackDataPlane } from '../../../support/data-plane-settings.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

/** A middleware of a random chain: who must (not) have gone before it, what it does, at once or later. */
interface Stub {
  readonly skipAfter: number | undefined;
  readonly onlyAfter: number | undefined;
  readonly request: 'pass' | 'reject' | 'throw';
  readonly response: 'pass' | 'replace' | 'throw';
  readonly later: boolean;
}

const stub: fc.Arbitrary<Stub> = fc.record({
  skipAfter: fc.option(fc.nat(7), { nil: undefined, freq: 3 }),
  onlyAfter: fc.option(fc.nat(7), { nil: undefined, freq: 3 }),
  request: fc.constantFrom<Stub['request'][]>('pass', 'pass', 'pass', 'pass', 'reject', 'throw'),
  response: fc.constantFrom<Stub['response'][]>('pass', 'pass', 'pass', 'replace', 'throw'),
  later: fc.boolean(),
});

const statusOf = (does: string, at: number): number => (does === 'throw' ? 500 : 400 + at);

/** contract.md §6.7 in a few lines. */
function expected(stubs: readonly Stub[]): string[] {
  const events: string[] = [];
  const went: number[] = [];
  let status = 200;
  let inner = -1;
  stubs.every(({ skipAfter, onlyAfter, request }, at) => {
    if (skipAfter !== undefined && went.includes(skipAfter)) return true;
    if (onlyAfter !== undefined && !went.includes(onlyAfter)) return true;
    events.push(`in ${at}`);
    went.push(at);
    if (request === 'pass') return true;
    status = statusOf(request, at);
    inner = at;
    return false;
  });
  if (inner < 0) events.push('action');
  for (const at of went.toReversed()) {
    if (at === inner) continue;
    events.push(`out ${at} of ${status}`);
    const does = stubs[at]?.response ?? 'pass';
    if (does !== 'pass') status = statusOf(does, at);
  }
  return [...events, `sent ${status}`, ...went.map((at) => `finish ${at}`)];
}

function linkOf({ skipAfter, onlyAfter, request, response, later }: Stub, at: number, events: string[]): Link {
  const does = (what: Stub['request'] | Stub['response']): MiddlewareResult | Promise<MiddlewareResult> => {
    const outcome = (): MiddlewareResult => {
      if (what === 'throw') throw new Error('broken');
      return what === 'pass' ? undefined : reply(statusOf(what, at));
    };
    return later ? new Promise((resolve) => setImmediate(resolve)).then(outcome) : outcome();
  };
  const went = (by: number) => [compileCel(`"x-${by}" in request.headers`, 'request', 'bool')];
  return {
    id: String(at),
    name: String(at),
    type: 'stub',
    skipWhen: skipAfter === undefined ? [] : went(skipAfter),
    onlyWhen: onlyAfter === undefined ? [] : went(onlyAfter),
    needsBody: false,
    phases: {
      onRequest(exchange) {
        events.push(`in ${at}`);
        exchange.setRequestField(`X-${at}`, '1');
        return does(request);
      },
      onResponse(exchange) {
        events.push(`out ${at} of ${exchange.response.status}`);
        return does(response);
      },
      onFinish: () => void events.push(`finish ${at}`),
    },
  };
}

const reply = (status: number): LocalReply => ({ status, fields: [], body: '' });

/** Returns the events of one request, in order. */
function run(stubs: readonly Stub[]): Promise<string[]> {
  const events: string[] = [];
  return new Promise((resolve) => {
    const entry = {
      route: { id: 'r', name: 'r' },
      group: undefined,
      refusing: undefined,
      closed: undefined,
      links: stubs.map((each, at) => linkOf(each, at, events)),
      action: {
        begin(exchange) {
          events.push('action');
          exchange.reply(reply(200));
        },
      },
    } as ExchangeEntry;
    const request = Object.assign(new StubExchange().request, { bodyKind: 'none', bodyWanted: false });
    const context = {
      clock: new ManualClock(),
      dataPlane: loopbackDataPlane({ celBodyMaxSize: 0 }),
      observer: () => undefined,
      figures: { count: () => {} },
      recent: undefined,
      installed: () => ({ table: { match: () => entry }, snapshot: { index: 1, id: 's', name: 's' }, role: 'stable' }),
      served: () => undefined,
      settings: () => ({ debugHeaders: false, detail: 'standard' }),
    } as unknown as ExchangeContext;
    const answer = ({ status }: ExchangeResponse): void => {
      events.push(`sent ${status}`);
      exchange.onResponseSent();
      resolve(events);
    };
    const downstream = {
      request,
      readsAsTunnel: () => false,
      response: { answer, flush: () => {}, responseBytes: 0 },
      requestBytes: 0,
    };
    const exchange = new Exchange(downstream as unknown as Downstream, context);
    exchange.begin();
  });
}

describe('chains of middlewares', () => {
  it('run both phases in the order of the model when links skip, reject, replace or throw', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stub, { maxLength: 8 }), async (stubs) => {
        expect(await run(stubs)).to.deep.equal(expected(stubs));
      }),
      { numRuns: 300 },
    );
  });
});
