// Way of an entity from its request to its answer: command, state, answer.
import { expect } from 'chai';
import { ApiServer } from '../support/api-server.ts';

describe('the text of an entity', () => {
  let api: ApiServer;
  beforeEach(async () => {
    api = await ApiServer.start();
  });
  afterEach(() => api.stop());

  /** Number of texts with the mark that were made meanwhile. */
  const writtenDuring = async (mark: string, run: () => Promise<unknown>): Promise<number> => {
    const { stringify } = JSON;
    let written = 0;
    JSON.stringify = ((...given: Parameters<typeof stringify>) => {
      const text: string | undefined = stringify(...given);
      if (text?.includes(mark)) written++;
      return text;
    }) as typeof stringify;
    try {
      await run();
    } finally {
      JSON.stringify = stringify;
    }
    return written;
  };

  for (const [what, method, path] of [
    ['created', 'POST', '/routes'],
    ['updated', 'PUT', '/routes/a'],
  ] as const) {
    it(`is written once when it is ${what}`, async () => {
      const route = { id: 'a', name: 'a', match: { path: '/a' }, directResponse: { status: 200, body: 'before' } };
      if (method === 'PUT') await api.call('POST', '/routes', { body: route });
      const mark = 'text-5f1c';
      const body = JSON.stringify({ ...route, directResponse: { status: 200, body: mark } });
      let answer = '';
      const written = await writtenDuring(mark, async () => {
        answer = (await api.call(method, path, { body })).text;
      });
      expect(answer).to.equal(body);
      expect((await api.call('GET', '/routes/a')).text).to.equal(body);
      expect(written).to.equal(1);
    });
  }
});
