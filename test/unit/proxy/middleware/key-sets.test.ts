import { expect } from 'chai';
import type { Destination } from '../../../../src/model/destination.ts';
import type { JwtConfig } from '../../../../src/model/middleware/jwt-options.ts';
import { JwksFetcher } from '../../../../src/proxy/jwks/jwks-fetcher.ts';
import type { JwksLocation } from '../../../../src/proxy/jwks/jwks-request.ts';
import { keySetName } from '../../../../src/proxy/jwks/key-set-name.ts';
import { KeySets } from '../../../../src/proxy/middleware/jwt/key-source.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { jwksOf, signerOf } from '../../../support/tokens.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const document = jwksOf(signerOf('ES256').jwk);

/** Main's side and one worker's, with a network that answers when the test says so. */
class World {
  readonly clock = new ManualClock();
  readonly asked: {
    readonly place: JwksLocation;
    readonly answer: (text: string) => void;
    readonly fail: () => void;
  }[] = [];
  readonly told: (string | undefined)[] = [];
  readonly sets = new KeySets(this.clock, (id) => this.fetcher.refetch(id));
  name = 'j';
  readonly fetcher: JwksFetcher = new JwksFetcher({
    clock: this.clock,
    logger: silentLogger,
    send: (id, text) => {
      this.told.push(text);
      this.sets.receive(id, text);
    },
    forget: (id) => this.sets.forget(id),
    request: (place, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        this.asked.push({ place, answer: resolve, fail: () => reject(new Error('refused')) });
      }),
  });

  get source() {
    return this.sets.sourceOf(this.name, 3_000);
  }

  follow(jwt: Partial<JwtConfig> = {}, destination: Partial<Destination> | null = {}): void {
    const config = { issuer: 'i', jwksPath: '/keys', jwksDestinationId: 'd', ...jwt };
    const known = { id: 'd', name: 'd', host: 'keys.example.com', port: 443, ...destination };
    const middleware = { id: 'j', name: 'j', type: 'jwt', jwt: config } as const;
    const destinations = destination === null ? [] : [known];
    this.name = keySetName(middleware, destinations[0]);
    this.fetcher.follow([{ listeners: [], routes: [], groups: [], middlewares: [middleware], destinations }]);
  }
}

describe('keys that are fetched (contract.md §8.4)', () => {
  it('are fetched when a configuration brings the middleware, and every five minutes', async () => {
    const world = new World();
    const { clock, asked, told, fetcher } = world;
    world.follow();
    const { source } = world;
    expect(asked.map(({ place }) => [place.destination.host, place.path, place.timeoutMs])).to.deep.equal([
      ['keys.example.com', '/keys', 10_000],
    ]);
    expect(source.keys).to.equal(undefined);
    asked[0]?.answer(document);
    await turn();
    expect(told).to.deep.equal([document]);
    expect(source.keys).to.have.length(1);
    clock.advance(299_999);
    expect(asked).to.have.length(1);
    clock.advance(1);
    expect(asked).to.have.length(2);
    fetcher.close();
    await turn();
    expect(clock.pending).to.equal(0);
  });

  it('are fetched without a limit of time where it is 0, and requests wait as long', async () => {
    const world = new World();
    world.follow({ jwksRetrievalTimeout: '0s' });
    let waits = true;
    const waiting = world.sets
      .sourceOf(world.name, 0)
      .fetched?.()
      .then(() => {
        waits = false;
      });
    world.clock.advance(200_000);
    await turn();
    expect(world.told).to.deep.equal([]);
    expect(waits).to.equal(true);
    world.asked[0]?.answer(document);
    await waiting;
    expect(world.told).to.deep.equal([document]);
    world.fetcher.close();
  });

  it('are not fetched again by a configuration that changes neither the middleware nor its destination', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    world.follow();
    expect(world.asked).to.have.length(1);
    world.follow({ issuer: 'other' });
    expect(world.asked).to.have.length(2);
    expect(world.source.keys, 'the old ones serve meanwhile').to.have.length(1);
    world.follow({ issuer: 'other' }, { port: 8443 });
    expect(world.asked).to.have.length(3);
  });

  it('stay when a fetch fails, or brings what is no document', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    const { version } = world.source;
    world.clock.advance(300_000);
    world.asked[1]?.fail();
    await turn();
    world.clock.advance(300_000);
    world.asked[2]?.answer('<html>');
    await turn();
    expect(world.source.keys).to.have.length(1);
    expect(world.source.version).to.equal(version);
    expect(world.told).to.deep.equal([document, undefined, undefined]);
  });

  const elsewhere: readonly (readonly [string, Partial<JwtConfig>, Partial<Destination>])[] = [
    ['path', { jwksPath: '/other' }, {}],
    ['host', {}, { host: 'other.example.com' }],
    ['port', {}, { port: 8443 }],
    ['TLS', {}, { options: { tls: { mode: 'tls' } } }],
  ];
  for (const [what, jwt, destination] of elsewhere)
    it(`of a place with another ${what} serve until the first fetch has ended, well or not, and no longer`, async () => {
      for (const end of ['fails', 'is no document', 'takes too long']) {
        const world = new World();
        world.follow();
        world.asked[0]?.answer(document);
        await turn();
        world.follow(jwt, destination);
        // Before it has answered the place changes nothing more.
        world.follow({ ...jwt, audiences: ['a'] }, destination);
        expect(world.source.keys, 'meanwhile').to.have.length(1);
        if (end === 'fails') world.asked[2]?.fail();
        else if (end === 'is no document') world.asked[2]?.answer('<html>');
        else world.clock.advance(10_000);
        await turn();
        expect(world.source.keys, end).to.deep.equal([]);
        world.follow({ ...jwt, audiences: ['b'] }, destination);
        expect(world.source.keys, 'are not brought back').to.equal(undefined);
        world.asked[3]?.answer(document);
        await turn();
        expect(world.source.keys).to.have.length(1);
      }
    });

  it('stay when the middleware changes and the place does not, also where its first fetch fails', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    world.follow({ issuer: 'other' }, { options: { timeouts: { connect: '1s' } } });
    world.asked[1]?.fail();
    await turn();
    expect(world.source.keys).to.have.length(1);
  });

  it('are none when the first fetch fails or takes too long, or the destination does not exist', async () => {
    for (const end of ['fails', 'takes too long', 'is missing']) {
      const world = new World();
      world.follow({ jwksRetrievalTimeout: '2s' }, end === 'is missing' ? null : {});
      if (end === 'fails') world.asked[0]?.fail();
      if (end === 'takes too long') world.clock.advance(2_000);
      await turn();
      expect(world.source.keys, end).to.deep.equal([]);
    }
  });

  it('are waited for by requests that come before the first fetch has ended, no longer than a fetch may take', async () => {
    const world = new World();
    world.follow();
    const waits = world.source.fetched();
    world.asked[0]?.answer(document);
    await waits;
    expect(world.source.keys).to.have.length(1);
    const slow = new World();
    slow.follow();
    const inVain = slow.source.fetched();
    slow.clock.advance(3_000);
    await inVain;
    expect(slow.source.keys).to.equal(undefined);
  });

  it('are fetched again for an unknown kid, once, and no more than every ten seconds', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    world.clock.advance(10_000);
    const first = world.source.refetched();
    const second = world.source.refetched();
    expect(world.asked).to.have.length(2);
    world.asked[1]?.answer(jwksOf());
    await Promise.all([first, second]);
    expect(world.source.keys).to.deep.equal([]);
    for (let i = 0; i < 1000; i++) expect(world.source.refetched()).to.equal(undefined);
    expect(world.asked).to.have.length(2);
    world.clock.advance(10_000);
    void world.source.refetched();
    expect(world.asked).to.have.length(3);
  });

  // The first fetch counted: keys rotated within ten seconds of it were refused.
  it('are fetched again for an unknown kid right after a fetch of another reason', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(jwksOf());
    await turn();
    const news = world.source.refetched();
    expect(world.asked).to.have.length(2);
    world.asked[1]?.answer(document);
    await news;
    expect(world.source.keys).to.have.length(1);
    world.clock.advance(299_999);
    world.clock.advance(1);
    expect(world.asked).to.have.length(3);
    world.asked[2]?.answer(jwksOf());
    await turn();
    void world.source.refetched();
    expect(world.asked).to.have.length(4);
  });

  it('asked for too soon by another worker, the answer is what is known', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    const other = new KeySets(world.clock, (id) => world.fetcher.refetch(id));
    const first = world.source.refetched();
    world.asked[1]?.answer(document);
    await first;
    void other.sourceOf(world.name, 3_000).refetched();
    expect(world.asked).to.have.length(2);
    expect(world.told).to.have.length(3);
  });

  it('are forgotten with their middleware: a later one of its id waits for its own', async () => {
    const world = new World();
    world.follow();
    world.asked[0]?.answer(document);
    await turn();
    const { source } = world;
    const { version } = source;
    world.fetcher.follow([]);
    expect(source.keys, 'those who began before may still ask').to.have.length(1);
    world.clock.advance(60_000);
    expect(source.keys).to.equal(undefined);
    expect(source.version).to.not.equal(version);
    world.follow({ jwksPath: '/others' });
    expect(world.source.keys).to.equal(undefined);
    world.asked[1]?.answer(document);
    await turn();
    expect(world.source.keys).to.have.length(1);
  });

  it('of an unknown name are answered all the same', async () => {
    const world = new World();
    await world.source.refetched();
    expect(world.source.keys).to.deep.equal([]);
  });

  it('are told to a worker that comes later', async () => {
    const world = new World();
    world.follow();
    const late: (string | undefined)[][] = [];
    world.fetcher.repeat((id, text) => late.push([id, text]));
    expect(late).to.deep.equal([]);
    world.asked[0]?.answer(document);
    await turn();
    world.fetcher.repeat((id, text) => late.push([id, text]));
    expect(late.map(([name, text]) => [name?.split(' ')[0], text])).to.deep.equal([['j', document]]);
  });
});
