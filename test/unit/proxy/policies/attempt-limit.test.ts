// `forward.timeouts.perAttempt`: a limit on each try with its whole response (contract.md §2.4.2, §7.3).
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { VersionedBed, versions } from '../../../support/versioned-bed.ts';

for (const version of versions) {
  describe(`the limit of each try, over ${version}`, () => {
    let bed: VersionedBed;
    let script: ((response: ServerResponse) => void)[];
    beforeEach(async () => {
      bed = await VersionedBed.open(version);
      script = [];
      await bed.upstreams(['a'], (_, response) => (script.shift() ?? whole)(response));
    });
    afterEach(() => bed.end());

    const whole = (response: ServerResponse): void => void response.end('whole');
    const never = (): void => {};
    const begun = (response: ServerResponse): void => void response.writeHead(200).write('begun');
    const slow = (response: ServerResponse): void => {
      response.writeHead(200).write('begun ');
      setTimeout(() => response.end('and ended'), 300);
    };
    const limited = (perAttempt: string, more: object = {}, timeouts: object = {}) =>
      bed.install({ destinations: [{ destinationId: 'a' }], timeouts: { perAttempt, ...timeouts }, ...more });

    it('ends a try without a response: 504, or the next try', async () => {
      await limited('100ms');
      script = [never];
      const { status, body } = await bed.ask();
      expect([status, JSON.parse(body).error]).to.deep.equal([504, 'timeout']);
      await limited('500ms', { retry: { attempts: 5, backoff: { base: '1ms' } } });
      script = [never];
      expect(await bed.ask()).to.include({ status: 200, body: 'whole' });
    });

    it('ends a response that has begun, and the client sees that it is not whole', async () => {
      await limited('500ms');
      const fate = async (): Promise<string> => {
        script = [begun];
        return bed.ask().then(
          ({ status }) => `whole ${status}`,
          () => 'cut',
        );
      };
      // On a busy machine the limit may come before the head.
      await eventually(async () => expect(await fate()).to.equal('cut'));
    });

    it('does not retry a response that has begun', async () => {
      await limited('500ms', { retry: { attempts: 5, backoff: { base: '1ms' } } });
      script = [begun, begun, begun, begun, begun, begun];
      const failed = await bed.ask().then(
        ({ status }) => status === 504,
        () => true,
      );
      expect(failed).to.equal(true);
    });

    it('counts each try by itself', async () => {
      const refused = (response: ServerResponse): void => void response.writeHead(503).end();
      await limited('10s', { retry: { attempts: 3, backoff: { base: '1ms' } } });
      script = [refused, refused];
      expect(await bed.ask()).to.include({ status: 200, body: 'whole' });
    });

    it('0 is none, as for the budget of a route, also where the destination has one', async () => {
      await limited('0');
      script = [slow];
      expect((await bed.ask()).body).to.equal('begun and ended');
      const short = { ...bed.destination('a', { timeouts: { request: '50ms' } }), id: 'short', name: 'short' };
      const destinations = [{ destinationId: 'short' }];
      await bed.install({ destinations, timeouts: { request: '0s', perAttempt: '0s' } }, { destinations: [short] });
      script = [slow];
      expect((await bed.ask()).body).to.equal('begun and ended');
    });
  });
}
