// Rules of contract.md §2.3.5, §7.4, §7.7 and §7.13 that are arithmetic or text.
import { expect } from 'chai';
import { backoffMs } from '../../../../src/proxy/forward/retry-policy.ts';
import { parseGrpcTimeout, renderGrpcTimeout } from '../../../../src/proxy/upstream/grpc-timeout.ts';
import { healthPlan } from '../../../../src/proxy/upstream/health/health-plan.ts';
import { cookieIn, newSession, pinCookie } from '../../../../src/proxy/upstream/session/session-cookie.ts';

describe('grpc-timeout', () => {
  it('is 1 to 8 digits and a unit', () => {
    const rows = [
      ['1H', 3_600_000],
      ['2M', 120_000],
      ['3S', 3_000],
      ['4m', 4],
      ['5u', 0.005],
      ['6n', 0.000006],
      ['99999999m', 99_999_999],
    ] as const;
    for (const [text, ms] of rows) expect(parseGrpcTimeout(text), text).to.be.closeTo(ms, 1e-9);
    for (const text of ['', '1', 'm', '123456789m', '1s', '-1m', '1.5S', ' 1m', '1m ']) {
      expect(parseGrpcTimeout(text), text).to.equal(undefined);
    }
  });

  it('of the cap is in milliseconds, finer below one, coarser when it is long', () => {
    const rows = [
      [5_000, '5000m'],
      [1, '1m'],
      [0.25, '250u'],
      [99_999_999, '99999999m'],
      [100_000_000, '100000S'],
      [200_000_000_000, '3333333M'],
    ] as const;
    for (const [ms, text] of rows) expect(renderGrpcTimeout(ms)).to.equal(text);
  });
});

describe('a health check', () => {
  it('takes 0 for the default of its times and thresholds, but for the interval, which is a second at least', () => {
    const healthCheck = { path: '/', interval: '0s', timeout: '0s', unhealthyThreshold: 0, healthyThreshold: 0 };
    const plan = healthPlan({ id: 'd', name: 'd', host: 'a.test', port: 80, options: { healthCheck } });
    const expected = { intervalMs: 1_000, timeoutMs: 5_000, unhealthyThreshold: 3, healthyThreshold: 2 };
    expect(plan).to.include(expected);
  });
});

describe('back-off', () => {
  it('doubles up to its bound and stays within [half, whole)', () => {
    for (const [n, span] of [
      [1, 100],
      [2, 200],
      [3, 400],
      [5, 1_000],
      [90, 1_000],
    ] as const) {
      expect(backoffMs(n, 100, 1_000, () => 0)).to.equal(span / 2);
      expect(backoffMs(n, 100, 1_000, () => 0.999_999)).to.be.within(span * 0.99, span - Number.EPSILON);
    }
  });
});

describe('pin cookies', () => {
  it('carry an opaque id and the attributes of the contract', () => {
    expect(newSession()).to.match(/^[0-9a-f]{32}$/);
    expect(pinCookie('pin', 'abc', 3_600)).to.equal('pin=abc; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax');
    expect(pinCookie('pin', 'abc', 0)).to.equal('pin=abc; Path=/; HttpOnly; SameSite=Lax');
  });

  it('are found among others; an empty one is none', () => {
    const rows = [
      ['pin=1', '1'],
      ['a=b; pin=2; pin=3', '2'],
      ['xpin=1; pinx=2;pin=3', '3'],
      ['a=pin=4; pin = 5', ''],
      ['pin=; b=c', ''],
      ['pin="6"', '6'],
      ['', ''],
    ] as const;
    for (const [line, value] of rows) expect(cookieIn(line, 'pin'), line).to.equal(value);
  });
});
