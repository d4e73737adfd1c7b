// The store of sticky sessions against a real Redis: values, lives, a server that dies, one that hangs.
import { expect } from 'chai';
import { RedisStore } from '../../src/proxy/redis/redis-store.ts';
import { waitMsMax } from '../../src/proxy/upstream/session/session-store.ts';
import { type Logger, silentLogger } from '../../src/telemetry/logger.ts';
import { systemClock } from '../../src/util/clock.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/needs.ts';
import { RedisServer } from '../support/redis-server.ts';

describe('the store of sticky sessions', () => {
  let redis: RedisServer;
  let store: RedisStore;
  before(async function () {
    needs(this, 'redis-server');
    redis = await RedisServer.start();
  });
  beforeEach(() => {
    store = new RedisStore({ host: '127.0.0.1', port: redis.port, db: 0 }, systemClock, silentLogger);
    return untilUp();
  });
  afterEach(() => store.close());
  after(() => redis?.kill());

  const untilUp = () =>
    eventually(() => {
      if (!store.up) throw new Error('not up');
    });
  /** The answer, and how long it took. */
  const get = (key: string): Promise<{ value: string | undefined; ms: number }> =>
    new Promise((resolve) => {
      const startedMs = performance.now();
      store.get(key, (value) => resolve({ value, ms: performance.now() - startedMs }));
    });

  it('keeps values for their time to live, and answers an unknown key with an empty value', async () => {
    // An answer that a busy machine makes late is no answer.
    await eventually(async () => expect((await get('nobody')).value).to.equal(''));
    store.set('sluice:sticky:abc:r1', 'dest-1', 100);
    await eventually(async () => expect((await get('sluice:sticky:abc:r1')).value).to.equal('dest-1'));
    expect(await redis.command('TTL sluice:sticky:abc:r1')).to.match(/^:(100|9\d)\r\n$/);
    store.set('short', 'x', 0);
    await get('short');
    expect(await redis.command('TTL short')).to.match(/^:[01]\r\n$/);
  });

  it('costs nothing while it is dead, and is used again when it is back', async () => {
    await redis.kill();
    await eventually(() => {
      if (store.up) throw new Error('still up');
    });
    let answered: unknown = 'not at once';
    store.get('k', (value) => {
      answered = value;
    });
    expect(answered).to.equal(undefined);
    await redis.start();
    await untilUp();
    store.set('k', 'v', 10);
    await eventually(async () => expect((await get('k')).value).to.equal('v'));
  });

  it('costs a request a moment once when it hangs, then nothing, and is down after a second until it answers', async () => {
    redis.signal('SIGSTOP');
    try {
      const first = await get('k');
      expect(first.value).to.equal(undefined);
      expect(first.ms).to.be.at.least(waitMsMax - 2);
      expect(store.up).to.equal(false);
      let answered = 0;
      for (let i = 0; i < 10; i++) store.get('k', () => answered++);
      expect(answered, 'at once').to.equal(10);
    } finally {
      redis.signal('SIGCONT');
    }
    await untilUp();
    // An answer that a busy machine makes late is no answer.
    await eventually(async () => expect((await get('nobody')).value).to.equal(''));
  });

  it('is made anew after a hang of more than a second', async () => {
    redis.signal('SIGSTOP');
    await get('k');
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    store.set('lost', 'x', 10);
    redis.signal('SIGCONT');
    await untilUp();
    expect((await get('lost')).value).to.equal('');
  });

  // Keys went to the first database: SELECT had failed, and its error was not checked.
  it('is down where it has no such database, and says which', async () => {
    const told: unknown[] = [];
    const logger: Logger = { ...silentLogger, child: () => logger, warn: (fields) => void told.push(fields) };
    const nowhere = new RedisStore({ host: '127.0.0.1', port: redis.port, db: 99 }, systemClock, logger);
    try {
      await eventually(() => expect(told).to.deep.equal([{ reason: 'database 99: ERR DB index is out of range' }]));
      expect(nowhere.up).to.equal(false);
      nowhere.set('lost', 'x', 10);
      expect((await get('lost')).value).to.equal('');
    } finally {
      nowhere.close();
    }
  });

  it('keeps sessions in the database that it was told', async () => {
    const third = new RedisStore({ host: '127.0.0.1', port: redis.port, db: 3 }, systemClock, silentLogger);
    try {
      await eventually(() => expect(third.up).to.equal(true));
      third.set('in-third', 'x', 10);
      await eventually(async () => expect(await redis.command('INFO keyspace')).to.contain('db3:keys=1'));
      expect((await get('in-third')).value).to.equal('');
    } finally {
      third.close();
    }
  });

  // A client that it did not know was given another target with each request.
  it('that takes nothing new does not answer for what it does not know, until it takes something again', async () => {
    store.set('known', 'x', 100);
    await eventually(async () => expect((await get('known')).value).to.equal('x'));
    await redis.command('CONFIG SET min-replicas-to-write 1');
    try {
      store.set('refused', 'x', 100);
      await eventually(async () => expect((await get('refused')).value).to.equal(undefined));
      expect((await get('known')).value).to.equal('x');
      expect(store.up).to.equal(true);
    } finally {
      await redis.command('CONFIG SET min-replicas-to-write 0');
    }
    await eventually(async () => {
      store.set('taken', 'x', 100);
      expect((await get('nobody')).value).to.equal('');
    });
  });
});
