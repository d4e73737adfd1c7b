import { expect } from 'chai';
import Fastify, { type FastifyInstance } from 'fastify';
import { sendError } from '../../../src/api/error-filter.ts';
import { SluiceError } from '../../../src/errors.ts';
import { logCapture } from '../../support/log-capture.ts';

describe('error answers', () => {
  let fastify: FastifyInstance;
  let thrown: unknown;
  const { logger, lines } = logCapture();

  before(async () => {
    fastify = Fastify();
    fastify.get('/', (_request, reply) => sendError(reply, thrown, logger));
    await fastify.ready();
  });

  after(() => fastify.close());

  const answerTo = async (error: unknown) => {
    thrown = error;
    const { statusCode, headers, body } = await fastify.inject('/');
    return { status: statusCode, headers, json: JSON.parse(body) };
  };

  it('carry the text, the status and the details of what was meant for the caller', async () => {
    const details = { body: { requestId: 'r' }, headers: { 'X-Sluice-Revision': '7' } };
    const { status, headers, json } = await answerTo(new SluiceError('OUTCOME_UNKNOWN', 'who knows', details));
    expect({ status, json }).to.deep.equal({ status: 504, json: { error: 'who knows', requestId: 'r' } });
    expect(headers).to.include({ 'content-type': 'application/json', 'x-sluice-revision': '7' });
  });

  it('ask to come back later when nothing was applied', async () => {
    expect((await answerTo(new SluiceError('UNAVAILABLE', 'no leader'))).headers).to.include({ 'retry-after': '1' });
    const later = new SluiceError('UNAVAILABLE', 'no leader', { headers: { 'retry-after': '9' } });
    expect((await answerTo(later)).headers).to.include({ 'retry-after': '9' });
  });

  for (const bug of [new TypeError('CANARY is not a function'), 'CANARY', undefined]) {
    it(`have no details of a bug such as ${String(bug)}, which is logged`, async () => {
      const before = lines.length;
      const { status, json } = await answerTo(bug);
      expect({ status, json }).to.deep.equal({ status: 500, json: { error: 'internal error' } });
      expect(lines.length).to.equal(before + 1);
    });
  }
});
