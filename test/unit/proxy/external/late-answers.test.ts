import { expect } from 'chai';
import type { MiddlewarePhases } from '../../../../src/proxy/exchange/phase.ts';
import type { ExternalDirectory } from '../../../../src/proxy/external/external-services.ts';
import { buildExtAuthz } from '../../../../src/proxy/middleware/ext-authz.ts';
import { buildExtProc } from '../../../../src/proxy/middleware/ext-proc.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

const clock = new ManualClock();
const logger = silentLogger;

/** A service whose answers are held back. */
function heldService() {
  const held: { answer: (body: string, fields?: readonly string[]) => void; fail: () => void }[] = [];
  const external = {
    http: () => ({
      ask: () =>
        new Promise((resolve, reject) => {
          held.push({
            answer: (body, fields = []) => resolve({ status: 200, fields, body: Buffer.from(body) }),
            fail: () => reject(new Error('gone')),
          });
        }),
    }),
  } as unknown as ExternalDirectory;
  return { held, external };
}

/** The request has ended, and the next one has taken its exchange. */
function usedAgain(exchange: StubExchange, middleware: MiddlewarePhases): void {
  middleware.onFinish?.(exchange.seen, 0);
  exchange.state.length = 0;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

// An exchange is used again for the next request: what a service had said to the one before was set on it.
describe('an answer that comes when its exchange is over', () => {
  const set = JSON.stringify({ action: 'requestHeaders', setHeaders: [{ key: 'x-user', value: 'the other' }] });

  it('of an extProc processor changes nothing of the next, and no further phase is asked', async () => {
    const { held, external } = heldService();
    const phases = { requestBody: 'buffered' } as const;
    const middleware = buildExtProc({ destinationId: 'd', mode: 'http', phases }, undefined)(external, {
      clock,
      logger,
    });
    const exchange = new StubExchange({ fields: ['x-user', 'own'] });
    const verdict = Promise.resolve(middleware.onRequest?.(exchange.seen, 0)).catch(() => undefined);
    usedAgain(exchange, middleware);
    held[0]?.answer(set);
    expect(await verdict).to.equal(undefined);
    await settled();
    expect(exchange.sent).to.deep.equal(['x-user: own']);
    expect(held).to.have.length(1);
  });

  for (const outcome of ['answer', 'fail'] as const) {
    it(`of an extAuthz service changes nothing of the next: ${outcome}`, async () => {
      const { held, external } = heldService();
      const onAllow = { copyToUpstream: ['x-user'] };
      const middleware = buildExtAuthz({ destinationId: 'd', onAllow, failureModeAllow: true })(external, clock);
      const exchange = new StubExchange();
      const verdict = middleware.onRequest?.(exchange.seen, 0);
      await settled();
      usedAgain(exchange, middleware);
      exchange.setRequestField('x-user', 'own');
      if (outcome === 'answer') held[0]?.answer('', ['x-user', 'the other']);
      else held[0]?.fail();
      expect(await verdict).to.equal(undefined);
      expect(exchange.sent).to.deep.equal(['x-user: own']);
    });
  }
});
