import { expect } from 'chai';
import { ProxyQuestions } from '../../../src/fleet/proxy-questions.ts';
import { pageAnswerOf, pageQuestionOf } from '../../../src/model/recorded-page.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('questions to a proxy', () => {
  const clock = new ManualClock();
  const op = { op: 'recorded', limit: 2 };

  it('are sent once each as events, and resolve with the answer of their number', async () => {
    const questions = new ProxyQuestions(clock);
    let looked = 0;
    questions.onAsked(() => looked++);
    const first = questions.ask(op, 1_000);
    const second = questions.ask(op, 1_000);
    expect([looked, String(questions.next())]).to.deep.equal([
      2,
      'event: ask\ndata: {"id":1,"op":"recorded","limit":2}\n\n',
    ]);
    expect(String(questions.next())).to.contain('"id":2');
    expect(questions.next()).to.equal(undefined);
    questions.answered(2, 'two');
    questions.answered(1, 'one');
    questions.answered(1, 'late');
    expect([await first, await second]).to.deep.equal(['one', 'two']);
  });

  it('have no answer when none comes in time, when the stream ends, and when too many wait', async () => {
    const questions = new ProxyQuestions(clock);
    const late = questions.ask(op, 1_000);
    clock.advance(1_000);
    expect(await late).to.equal(undefined);
    const many = Array.from({ length: 100 }, () => questions.ask(op, 1_000));
    expect(await many[99]).to.equal(undefined);
    questions.close();
    expect(await Promise.all(many)).to.deep.equal(Array(100).fill(undefined));
    expect(await questions.ask(op, 1_000)).to.equal(undefined);
  });
});

describe('pages of recorded requests between processes', () => {
  const request = {
    ...{ time: '2026-03-30T14:22:01Z', method: 'GET', scheme: 'http', host: 'a', path: '/', params: ['a'], query: {} },
    ...{ headers: { 'x-a': 'b' }, protocol: 'HTTP/1.1', status: 200, listener: 'l', listenerId: 'l', section: '' },
    ...{ route: 'r', routeId: 'r', group: '', destination: '', endpoint: '', attempts: 0, durationMs: 1.5 },
    ...{ snapshotIndex: 3, role: 'stable', error: '', oneIn: 1, isCut: false, lacksParams: false },
  };
  const phases = { proxyMs: 0.5, connectMs: 0.25, firstByteMs: 0.5, transferMs: 0.25 };
  const page = { headers: ['x-a'], query: [], requests: [{ ...request, ...phases }], before: null };

  it('are read as they are, without fields of a later version', () => {
    const sent = { page: { ...page, requests: [{ ...request, ...phases, later: 1 }], later: 1 } };
    expect(pageAnswerOf(JSON.parse(JSON.stringify(sent)))).to.deep.equal({ page });
    expect(pageAnswerOf({ refused: 'where: too slow' })).to.deep.equal({ refused: 'where: too slow' });
  });

  it('of a version without phases have none, in place of zeros', () => {
    expect(pageAnswerOf({ page: { ...page, requests: [request] } })).to.deep.equal({
      page: { ...page, requests: [request] },
    });
    const bad = { ...request, ...phases, connectMs: -1 };
    expect(pageAnswerOf({ page: { ...page, requests: [bad] } })).to.equal(undefined);
  });

  it('are no answer when anything in them is malformed or too much', () => {
    const bad: unknown[] = [undefined, null, [], {}, { page: [] }, { refused: 7 }, { page: { ...page, before: -1 } }];
    for (const [name, value] of Object.entries(request)) {
      bad.push({ page: { ...page, requests: [{ ...request, [name]: typeof value === 'string' ? 7 : 'seven' }] } });
      bad.push({ page: { ...page, requests: [{ ...request, [name]: undefined }] } });
    }
    bad.push({ page: { ...page, requests: [{ ...request, path: 'x'.repeat(10_000) }] } });
    bad.push(
      { page: { ...page, requests: Array(201).fill(request) } },
      { page: { ...page, headers: Array(17).fill('a') } },
    );
    for (const answer of bad) expect(pageAnswerOf(answer), JSON.stringify(answer)?.slice(0, 300)).to.equal(undefined);
  });

  it('are asked for by a limit, a filter and a number', () => {
    expect(pageQuestionOf({ limit: 7, where: 'true', before: 0, later: 1 })).to.deep.equal({
      ...{ limit: 7, where: 'true', before: 0 },
    });
    for (const question of [{}, { limit: 0 }, { limit: 201 }, { limit: 1, where: 7 }, { limit: 1, before: -1 }])
      expect(pageQuestionOf(question)).to.equal(undefined);
  });
});
