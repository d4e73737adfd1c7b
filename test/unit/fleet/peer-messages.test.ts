import { expect } from 'chai';
import { SluiceError } from '../../../src/errors.ts';
import { acknowledgementOf, reportOf } from '../../../src/fleet/peer-messages.ts';
import { fleetRequestOf } from '../../../src/fleet/peer-requests.ts';
import { proxyHelloOf } from '../../../src/fleet/proxy-hello.ts';
import { nodeOfToken, streamToken } from '../../../src/fleet/stream-token.ts';
import { noShadow, noShadowExamples } from '../../../src/model/shadow.ts';

const ack = {
  token: 't',
  boot: 'b',
  index: 7,
  sha256: 'f'.repeat(64),
  of: 'stable',
  state: 'installed',
  tookMs: 1.5,
  problems: [{ pointer: '', message: 'm' }],
  listeners: [{ id: 'l', state: 'failed', reason: 'r' }],
};
const window = {
  of: 'stable',
  rollout: null,
  requests: 1,
  serverErrors: 0,
  clientErrors: 0,
  proxyErrors: 0,
  latency: Array(80).fill(0),
};

describe('what a proxy says', () => {
  it('is measured in characters, as the document does, and not in halves of them', () => {
    expect(acknowledgementOf({ ...ack, boot: '𝕋'.repeat(64) }).boot).to.have.length(128);
    for (const boot of ['𝕋'.repeat(65), 'b'.repeat(65)])
      expect(() => acknowledgementOf({ ...ack, boot })).to.throw(SluiceError, 'boot must have at most 64 characters');
  });

  it('is taken as it is when it is well-formed', () => {
    expect(acknowledgementOf(ack)).to.deep.equal(ack);
    expect(reportOf({ token: 't', boot: 'b', window: [window] }).window).to.deep.equal([window]);
    expect(reportOf({ token: 't', boot: 'b', window: [{ ...window, latency: [] }] }).window).to.have.length(1);
  });

  it('is refused when anything in it has another form', () => {
    const wrong: object[] = [
      { token: 1 },
      { token: 'x'.repeat(513) },
      { boot: undefined },
      { index: -1 },
      { index: 1.5 },
      { sha256: 'x'.repeat(65) },
      { of: 'both' },
      { state: 'maybe' },
      { tookMs: Number.NaN },
      { problems: [1] },
      { problems: Array(101).fill({ pointer: '', message: '' }) },
      { listeners: [{ id: 'l', state: 'ajar' }] },
      { listeners: {} },
    ];
    for (const change of wrong) {
      expect(() => acknowledgementOf({ ...ack, ...change }), JSON.stringify(change)).to.throw(SluiceError);
    }
    for (const change of [{ requests: '1' }, { latency: [1] }, { latency: Array(80).fill(-1) }, { rollout: 3 }]) {
      const body = { token: 't', boot: 'b', window: [{ ...window, ...change }] };
      expect(() => reportOf(body), JSON.stringify(change)).to.throw(SluiceError);
    }
  });

  it('has counts of compared mirrors where there are some', () => {
    const mirror = { compared: 10, mismatched: 3 };
    const of = (mirror: unknown) => reportOf({ token: 't', boot: 'b', window: [{ ...window, mirror }] }).window[0];
    expect(of(mirror)).to.deep.equal({ ...window, mirror });
    expect(of(null)).to.deep.equal(window);
    for (const wrong of [3, { compared: 1 }, { compared: -1, mismatched: 0 }])
      expect(() => of(wrong), JSON.stringify(wrong)).to.throw(SluiceError, '/window/0/mirror');
  });

  it('has counts and examples of a shadow where there are some', () => {
    const shadow = { ...noShadow, requests: 10, lost: 3 };
    const example = {
      ...{ time: 't', method: 'GET', host: 'h', path: '/p', params: ['a'] },
      ...{ from: { id: 'r', name: 'r' }, to: null, what: ['route'] },
    };
    const examples = { ...noShadowExamples, lost: [example] };
    const of = (more: object) => reportOf({ token: 't', boot: 'b', window: [{ ...window, ...more }] }).window[0];
    expect(of({ shadow, examples })).to.deep.equal({ ...window, shadow, examples });
    expect(of({ shadow: null, examples: null })).to.deep.equal(window);
    expect(
      of({ examples: { lost: [{ ...example, path: 'x'.repeat(5_000) }] } })?.examples?.lost?.[0]?.path,
    ).to.have.length(1_000);
    for (const wrong of [3, {}, { ...shadow, same: -1 }])
      expect(() => of({ shadow: wrong }), JSON.stringify(wrong)).to.throw(SluiceError, '/window/0/shadow');
    const faults = [
      3,
      { lost: 3 },
      { lost: [{}] },
      { lost: [{ ...example, to: 3 }] },
      { lost: Array(101).fill(example) },
    ];
    for (const wrong of faults)
      expect(() => of({ examples: wrong }), JSON.stringify(wrong).slice(0, 80)).to.throw(
        SluiceError,
        '/window/0/examples',
      );
  });

  it('may leave out lists, reasons and rollouts, as null and as nothing', () => {
    const none = [null, undefined];
    for (const problems of none)
      expect(acknowledgementOf({ ...ack, problems, listeners: problems })).to.deep.include({
        problems: [],
        listeners: [],
      });
    for (const reason of [...none, '']) {
      const { listeners } = acknowledgementOf({ ...ack, listeners: [{ id: 'l', state: 'open', reason }] });
      expect(listeners).to.deep.equal([{ id: 'l', state: 'open' }]);
    }
    for (const rollout of [...none, '']) {
      const said = reportOf({ token: 't', boot: 'b', window: [{ ...window, rollout, latency: rollout || undefined }] });
      expect(said.window).to.deep.equal([{ ...window, latency: [] }]);
    }
    expect(() => reportOf({ token: 't', boot: 'b', window: null })).to.throw(SluiceError, '/window must be a list');
  });

  it('is refused with the JSON pointer of what is wrong', () => {
    const listeners = [ack.listeners[0], { id: 'm', state: 'ajar' }];
    expect(() => acknowledgementOf({ ...ack, listeners })).to.throw(SluiceError, '/listeners/1/state must be one of');
    expect(() => acknowledgementOf({ ...ack, index: 'x' })).to.throw(SluiceError, '/index must be');
  });

  it('is cut where it is prose', () => {
    const [problem] = acknowledgementOf({ ...ack, problems: [{ pointer: '', message: 'x'.repeat(5_000) }] }).problems;
    expect(problem?.message).to.have.length(1_000);
  });
});

describe('a question between nodes', () => {
  it('is one of a few', () => {
    for (const question of [{ op: 'view' }, { op: 'shadow' }, { op: 'progress', index: 3 }, { op: 'forget', id: 'p' }])
      expect(fleetRequestOf(question)).to.deep.equal(question);
    expect(fleetRequestOf({ op: 'acknowledge', message: ack })).to.deep.equal({ op: 'acknowledge', message: ack });
    for (const question of [{}, { op: 'stop' }, { op: 'progress' }, { op: 'acknowledge', message: {} }])
      expect(() => fleetRequestOf(question)).to.throw(SluiceError);
  });
});

describe('the introduction of a proxy', () => {
  it('is read from its fields', () => {
    const sha256 = 'a'.repeat(64);
    expect(
      proxyHelloOf({
        'x-sluice-proxy': 'edge-1',
        'x-sluice-boot': 'b',
        'x-sluice-version': '1',
        'x-sluice-labels': 'site=fra%2C1,a%3Db=c, bad,x=%zz',
        'x-sluice-has': `c 12 ${sha256}`,
        'x-sluice-candidate': 'rollout-1 c 14',
      }),
    ).to.deep.equal({
      id: 'edge-1',
      boot: 'b',
      version: '1',
      labels: { site: 'fra,1', 'a=b': 'c' },
      has: { clusterId: 'c', index: 12, sha256 },
      trial: { rollout: 'rollout-1', clusterId: 'c', index: 14 },
    });
  });

  it('needs an id, and nothing else', () => {
    expect(proxyHelloOf({})).to.equal(undefined);
    expect(proxyHelloOf({ 'x-sluice-proxy': 'a b' })).to.equal(undefined);
    expect(proxyHelloOf({ 'x-sluice-proxy': 'p', 'x-sluice-has': 'c -1 x' })).to.deep.equal({
      id: 'p',
      boot: '',
      version: '',
      labels: {},
      has: undefined,
      trial: undefined,
    });
  });
});

describe('the token of a stream', () => {
  it('names its node, by any name', () => {
    for (const node of ['a', 'node.1', '10.0.0.1:7000', 'ä'])
      expect(nodeOfToken(streamToken(node, 'r4nd0m_-x'))).to.equal(node);
    for (const text of ['', 'x', 'a.b', '..', 'YQ.????????']) expect(nodeOfToken(text)).to.equal(undefined);
  });
});
