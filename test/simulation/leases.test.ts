// Rate limits of a whole cluster in simulated time (fleet.md §8, issue "At the edge", check 3).
import { expect } from 'chai';
import { seededRandom } from '../support/random.ts';
import { LeaseFleet, Referee } from './leases/lease-fleet.ts';

const proxies = 100;
const limit = { id: 'l', requestsPerSecond: 1_000, burst: 10_000, windowMs: 10_000 };
const seconds = 40;
const seeds = 2;

interface Plan {
  /** Requests of all clients in a second. */
  readonly offered: number;
  readonly deaths: number;
  readonly cutOff: number;
  readonly leaderDies: 'never' | 'at once' | 'unknowing';
}

/** Runs a plan; uneven load: the first proxies get most of it, and the order changes on the way. */
async function run(
  seed: number,
  plan: Plan,
): Promise<{ passed: number; over: number; possible: number; trail: string }> {
  const random = seededRandom(seed);
  const fleet = new LeaseFleet(limit, random);
  const referee = new Referee(limit);
  const all = Array.from({ length: proxies }, (_, place) => fleet.proxy(`p${place}`));
  const live = new Set(all);
  const { clock } = fleet;
  let turned = 0;
  const send = (): void => {
    // Squared twice: a tenth of the proxies gets more than half of the requests.
    const place = (Math.floor(random() ** 4 * proxies) + turned) % proxies;
    const chosen = all[place];
    // A load balancer sends the clients of a dead proxy to any other.
    const proxy = chosen !== undefined && live.has(chosen) ? chosen : [...live][Math.floor(random() * live.size)];
    if (proxy !== undefined) {
      void proxy.request('all').then((passes) => {
        if (passes) referee.pass(clock.monotonicMs());
      });
    }
    if (clock.monotonicMs() < seconds * 1_000) clock.after((2 * random() * 1_000) / plan.offered, send);
  };
  clock.after(0, send);
  // Proxies that are cut off keep their parts; only with their clients these are of use.
  if (plan.cutOff === 0) {
    clock.after(20_000, () => {
      turned = 37;
    });
  }
  for (let death = 0; death < plan.deaths; death++) {
    clock.after(10_000 + random() * 20_000, () => {
      const proxy = all[Math.floor(random() * proxies)];
      if (proxy === undefined || !live.delete(proxy)) return;
      proxy.die();
    });
  }
  for (const proxy of all.slice(0, plan.cutOff)) {
    clock.after(15_000, () => {
      proxy.isCutOff = true;
    });
  }
  if (plan.leaderDies !== 'never') clock.after(30_000, () => fleet.loseLeader(1_500, plan.leaderDies === 'unknowing'));
  await clock.run(seconds * 1_000 + 5_000);
  const { passed, over } = referee;
  const possible = limit.burst + (limit.requestsPerSecond * (seconds * 1_000)) / 1_000;
  return { passed, over, possible, trail: `${passed} ${over.toFixed(6)}` };
}

describe('a rate limit of the cluster with 100 proxies under uneven load', function () {
  this.timeout(600_000);

  const plans: readonly [string, Plan][] = [
    ['with a leader that lives', { offered: 2_000, deaths: 0, cutOff: 0, leaderDies: 'never' }],
    ['with proxies that die with a lease', { offered: 2_000, deaths: 5, cutOff: 0, leaderDies: 'never' }],
    ['with proxies without contact', { offered: 2_000, deaths: 0, cutOff: 10, leaderDies: 'never' }],
    ['with a leader that dies', { offered: 2_000, deaths: 5, cutOff: 0, leaderDies: 'at once' }],
    [
      'with a leader that does not know that it is none',
      { offered: 2_000, deaths: 5, cutOff: 0, leaderDies: 'unknowing' },
    ],
  ];
  for (const [title, plan] of plans) {
    it(`${title}: passes never more than one bucket and one request a proxy, and at least 95 % of it`, async () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const { passed, over, possible } = await run(seed, plan);
        const told = `seed ${seed}: ${passed} of ${possible}, ${over.toFixed(2)} over`;
        expect(over, told).to.be.at.most(Math.min(proxies, possible / 100));
        expect(passed / possible, told).to.be.at.least(0.95);
      }
    });
  }

  it('runs a seed the same way each time', async () => {
    const plan = { offered: 500, deaths: 5, cutOff: 3, leaderDies: 'unknowing' } as const;
    expect((await run(11, plan)).trail).to.equal((await run(11, plan)).trail);
  });
});
