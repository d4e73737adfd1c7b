import type { LookupAddress } from 'node:dns';
import { expect } from 'chai';
import { NameLookup, type SystemLookup } from '../../../src/proxy/upstream/name-lookup.ts';
import { systemClock } from '../../../src/util/clock.ts';

const addresses = [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
];

describe('the look-up of names', () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  beforeEach(() => {
    nowMs = 0;
  });

  const find = (names: NameLookup, name: string, options = {}) =>
    new Promise<LookupAddress[] | string>((resolve, reject) => {
      names.lookup(name, { all: true, ...options }, (error, found) =>
        error === null ? resolve(found) : reject(error),
      );
    });

  it('asks once for many and remembers', async () => {
    const asked: string[] = [];
    const system: SystemLookup = (name, answer) => {
      asked.push(name);
      setImmediate(() => answer(null, addresses));
    };
    const names = new NameLookup(clock, system);
    const found = await Promise.all([find(names, 'a'), find(names, 'a'), find(names, 'b')]);
    expect(found).to.deep.equal([addresses, addresses, addresses]);
    nowMs = 4_000;
    await find(names, 'a');
    expect(asked).to.deep.equal(['a', 'b']);
  });

  it('answers from memory while it asks again, and keeps what it has when that fails', async () => {
    let fails = false;
    let asked = 0;
    const names = new NameLookup(clock, (_name, answer) => {
      asked++;
      if (fails) answer(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }), []);
      else answer(null, addresses);
    });
    await find(names, 'a');
    fails = true;
    nowMs = 10_000;
    expect(await find(names, 'a')).to.deep.equal(addresses);
    expect(await find(names, 'a')).to.deep.equal(addresses);
    expect(asked).to.be.greaterThan(1);
  });

  for (const code of ['EAI_AGAIN', 'EAI_FAIL', 'EMFILE']) {
    it(`keeps the last addresses while the system answers ${code}, however long, and however seldom it is asked`, async () => {
      let fails = false;
      const names = new NameLookup(clock, (_name, answer) => {
        if (fails) setImmediate(() => answer(Object.assign(new Error('no'), { code }), []));
        else answer(null, addresses);
      });
      await find(names, 'a');
      fails = true;
      for (const waitMs of [10_000, 30_000, 59_000, 70_000, 3_600_000]) {
        nowMs += waitMs;
        expect(await find(names, 'a'), `${waitMs}`).to.deep.equal(addresses);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await find(names, 'b').catch((error) => error.code)).to.equal(code);
    });
  }

  it('forgets the addresses of a name that has none any more after a minute', async () => {
    let fails = false;
    const names = new NameLookup(clock, (_name, answer) => {
      if (fails) answer(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
      else answer(null, addresses);
    });
    await find(names, 'a');
    fails = true;
    nowMs = 59_000;
    expect(await find(names, 'a')).to.deep.equal(addresses);
    nowMs = 61_000;
    expect(await find(names, 'a').catch((error) => error.code)).to.equal('ENOTFOUND');
  });

  it('says no when there is no such name, and asks again the next time', async () => {
    let asked = 0;
    const names = new NameLookup(clock, (_name, answer) => {
      asked++;
      answer(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
    });
    for (let i = 0; i < 2; i++) expect(await find(names, 'a').catch((error) => error.code)).to.equal('ENOTFOUND');
    expect(asked).to.equal(2);
  });

  it('gives the family asked for', async () => {
    const names = new NameLookup(clock, (_name, answer) => answer(null, addresses));
    expect(await find(names, 'a', { family: 4 })).to.deep.equal([addresses[1]]);
    expect(await find(names, 'a', { family: 4, all: false })).to.equal('127.0.0.1');
  });

  it('has at most four questions under way', async () => {
    const waiting: (() => void)[] = [];
    const names = new NameLookup(clock, (_name, answer) => waiting.push(() => answer(null, addresses)));
    const found = Array.from({ length: 10 }, (_, i) => find(names, `name-${i}`));
    expect(waiting).to.have.length(4);
    while (waiting.length > 0) waiting.shift()?.();
    expect(await Promise.all(found)).to.have.length(10);
  });
});
