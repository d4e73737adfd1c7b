import { expect } from 'chai';
import { ProofCheck, proofWindowMs, relayKey, signedFields } from '../../../../src/cluster/relay/relay-credential.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const key = relayKey('a token of sixteen characters');
const request = { method: 'POST', path: '/sync/raft', body: Buffer.from('{"v":1}') };
const nonce = 'n'.repeat(22);

describe('proof of membership', () => {
  let clock: ManualClock;
  let check: ProofCheck;

  beforeEach(() => {
    clock = new ManualClock();
    check = new ProofCheck(key, clock);
  });

  const signed = (fields: Partial<typeof request & { nonce: string; unixMs: number; key: Uint8Array }> = {}) =>
    signedFields(
      fields.key ?? key,
      { ...request, ...fields },
      { unixMs: fields.unixMs ?? clock.nowMs(), nonce: fields.nonce ?? nonce },
    ).authorization;

  /** Returns the problem of a header that comes with `request`. */
  const problemOf = (authorization: string | undefined): string | undefined => {
    const proof = check.read(authorization);
    return typeof proof === 'string' ? proof : check.problemOf(proof, request);
  };

  it('holds for the request that was signed', () => {
    expect(problemOf(signed())).to.equal(undefined);
  });

  it('is pinned to a known value, so that versions of the program understand each other', () => {
    const stamp = { unixMs: 1_767_225_600_000, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' };
    expect(signedFields(key, request, stamp).authorization).to.equal(
      'Sluice 1767225600000.AAAAAAAAAAAAAAAAAAAAAA.byiFNb1LKyKp4pgEDwd7sxSiJFtM7MNa9S3RVG3CIyQ',
    );
  });

  it('holds once', () => {
    const authorization = signed();
    expect(problemOf(authorization)).to.equal(undefined);
    expect(problemOf(authorization)).to.equal('the proof was used already');
  });

  it('is remembered for as long as it would be good', () => {
    const authorization = signed({ unixMs: clock.nowMs() + proofWindowMs });
    expect(problemOf(authorization)).to.equal(undefined);
    clock.advance(2 * proofWindowMs - 1);
    expect(problemOf(authorization)).to.equal('the proof was used already');
    clock.advance(2);
    expect(problemOf(authorization)).to.equal(
      'the proof is of another time: the clocks of the two nodes differ by 30 s',
    );
  });

  it('may be 30 s old or ahead and no more', () => {
    for (const [offset, problem] of [
      [-proofWindowMs, undefined],
      [proofWindowMs, undefined],
      [-proofWindowMs - 1, 'the proof is of another time: the clocks of the two nodes differ by 30 s'],
      [proofWindowMs + 1, 'the proof is of another time: the clocks of the two nodes differ by 30 s'],
    ] as const) {
      const authorization = signed({ unixMs: clock.nowMs() + offset, nonce: `nonce-of-${offset}`.padEnd(22, '-') });
      expect(problemOf(authorization), `${offset} ms`).to.equal(problem);
    }
  });

  const others: [string, Parameters<typeof signed>[0]][] = [
    ['another method', { method: 'PUT' }],
    ['another path', { path: '/api/v1/sync/raft' }],
    ['another body', { body: Buffer.from('{"v":2}') }],
    ['another key', { key: relayKey('another token of 16') }],
  ];
  for (const [what, fields] of others) {
    it(`does not hold for ${what}, and that uses nothing up`, () => {
      expect(problemOf(signed(fields))).to.equal('invalid proof');
      expect(problemOf(signed())).to.equal(undefined);
    });
  }

  it('does not hold with another time or nonce than was signed', () => {
    const [, unixMs, mac] = /^Sluice (\d+)\.[^.]+\.(.+)$/.exec(signed()) ?? [];
    expect(problemOf(`Sluice ${Number(unixMs) + 1}.${nonce}.${mac}`)).to.equal('invalid proof');
    expect(problemOf(`Sluice ${unixMs}.${'m'.repeat(22)}.${mac}`)).to.equal('invalid proof');
  });

  it('asks for the scheme', () => {
    expect(problemOf(undefined)).to.equal('missing authorization header');
    for (const header of [
      'Bearer a',
      'Sluice ',
      'Sluice 1.2.3',
      signed().replace('Sluice', 'sluice'),
      `${signed()} `,
    ]) {
      expect(problemOf(header), header).to.equal('authorization header must use Sluice scheme');
    }
  });
});
