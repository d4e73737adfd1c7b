// fleet.md §3 and §7, as a proxy apart from its control plane hears of a candidate.
import { expect } from 'chai';
import { type CandidateStatus, RemoteCandidates } from '../../../src/control-plane-client/remote-candidates.ts';
import { configDigest } from '../../../src/model/config-digest.ts';
import type { Candidate } from '../../../src/model/proxy-config.ts';
import { silentLogger } from '../../../src/telemetry/logger.ts';
import { logCapture } from '../../support/log-capture.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const snapshot = { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] };
const sha256 = configDigest(snapshot);
const data = (parts: object = {}): string =>
  JSON.stringify({
    rollout: 'r',
    share: 10,
    by: 'client',
    key: { cookie: 'user' },
    deadmanMs: 5_000,
    sha256,
    id: 's',
    name: 'n',
    createdAt: '2031-07-01T00:00:00Z',
    snapshot,
    secrets: [],
    ...parts,
  });

describe('a candidate from a control plane', () => {
  let clock: ManualClock;
  let candidates: RemoteCandidates;
  let seen: (Candidate | undefined)[];
  let words: CandidateStatus[];
  beforeEach(() => {
    clock = new ManualClock();
    words = [];
    seen = [];
    candidates = new RemoteCandidates({ clock, logger: silentLogger, onWord: (word) => words.push(word) });
    candidates.subscribe((candidate) => seen.push(candidate));
    candidates.opened('c');
  });
  const hear = (event: string, id: number, text: string) => candidates.onEvent({ event, id: String(id), data: text });
  const shares = () => seen.map((each) => each && `${each.rollout} ${each.share}`);
  const outcome = { isLive: true, problems: [], tookMs: 3 };

  it('is handed on with its share, follows it, and goes when it is withdrawn', () => {
    hear('candidate', 5, data());
    expect(seen[0]).to.deep.include({
      rollout: 'r',
      index: 5,
      share: 10,
      by: 'client',
      key: { cookie: 'user' },
      deadmanMs: 5_000,
    });
    expect(seen[0]?.config).to.deep.include({ id: 's', index: 5 });
    hear('share', 6, '{"rollout":"r","share":30}');
    hear('share', 7, '{"rollout":"another","share":50}');
    hear('withdraw', 8, '{"rollout":"r"}');
    expect(shares()).to.deep.equal(['r 10', 'r 30', undefined]);
    expect(candidates.rollout).to.equal(undefined);
    expect(clock.pending).to.equal(0);
  });

  it('is acknowledged once its outcome is known, and again on the next stream', () => {
    hear('candidate', 5, data());
    candidates.settle('another', outcome);
    expect(words).to.deep.equal([]);
    candidates.settle('r', outcome);
    expect(words).to.deep.equal([{ ...outcome, index: 5, sha256, secrets: [] }]);
    candidates.opened('c');
    hear('candidate', 9, data({ share: 50 }));
    expect(words.map(({ index, isLive }) => [index, isLive])).to.deep.equal([
      [5, true],
      [9, true],
    ]);
    expect(seen[1]?.config, 'nothing is compiled again').to.equal(seen[0]?.config);
    candidates.settle('r', { ...outcome, isLive: false });
    expect(words.at(-1)).to.deep.include({ index: 9, isLive: false });
  });

  it('that cannot be used is refused with the reason', () => {
    for (const parts of [
      { by: 'x' },
      { share: 101 },
      { share: '1' },
      { key: {} },
      { deadmanMs: 0 },
      { snapshot: 1 },
      { rollout: '' },
    ]) {
      hear('candidate', 5, data(parts));
      expect(words.pop(), JSON.stringify(parts)).to.deep.include({ index: 5, isLive: false });
    }
    hear('candidate', 5, 'no JSON');
    expect(words.pop()?.problems).to.deep.equal([{ pointer: '', message: 'the data is not valid JSON' }]);
    // The problem once named the field that is judged next, and an index that was never given.
    const { logger, lines } = logCapture();
    const strict = new RemoteCandidates({ clock, logger, onWord: (word) => words.push(word) });
    strict.onEvent({ event: 'candidate', id: undefined, data: '{"rollout":5}' });
    expect(words.pop()?.problems).to.deep.equal([{ pointer: '', message: '/rollout must be an id' }]);
    expect(lines.join()).to.contain('/rollout must be an id').and.not.contain('index');
    expect(seen).to.deep.equal([]);
  });

  it('of a node that lags is passed over: its rollout is over already', () => {
    hear('candidate', 5, data());
    hear('withdraw', 8, '{"rollout":"r"}');
    candidates.opened('c');
    hear('candidate', 5, data());
    expect(candidates.rollout).to.equal(undefined);
    candidates.opened('another cluster');
    hear('candidate', 2, data({ rollout: 'q' }));
    expect(candidates.rollout).to.equal('q');
  });

  it('goes with its cluster', () => {
    hear('candidate', 5, data());
    candidates.opened('c');
    expect(candidates.rollout).to.equal('r');
    candidates.opened('d');
    expect(candidates.rollout).to.equal(undefined);
    expect(shares()).to.deep.equal(['r 10', undefined]);
  });

  it("serves no client after the dead man's time without a word, and as before with the next", () => {
    hear('candidate', 5, data());
    for (let n = 0; n < 10; n++) {
      clock.advance(4_000);
      candidates.contact();
    }
    expect(shares()).to.deep.equal(['r 10']);
    clock.advance(4_999);
    expect(shares()).to.deep.equal(['r 10']);
    clock.advance(1);
    clock.advance(60_000);
    expect(shares()).to.deep.equal(['r 10', 'r 0']);
    candidates.contact();
    hear('share', 6, '{"rollout":"r","share":30}');
    expect(shares()).to.deep.equal(['r 10', 'r 0', 'r 10', 'r 30']);
    clock.advance(5_000);
    expect(shares().at(-1)).to.equal('r 0');
  });
});
