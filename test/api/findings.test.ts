import { expect } from 'chai';
import type { Finding } from '../../src/model/answers/finding-answers.ts';
import { ApiServer } from '../support/api-server.ts';

const canary = 'CANARY-77-PATH';

describe('GET /findings', () => {
  let server: ApiServer;
  let large: ApiServer | undefined;

  const create = async (kind: string, body: object): Promise<Record<string, unknown>> => {
    const { status, json, text } = await server.call('POST', `/${kind}`, { body, key: 'root' });
    expect(status, text).to.equal(201);
    return json as Record<string, unknown>;
  };
  const ask = async (query = '', key = 'eye') => {
    const answer = await server.call('GET', `/findings${query}`, { key });
    return { ...answer, json: answer.json as { of: string; index: number; findings: Finding[]; counts: object } };
  };
  const answer = { directResponse: { status: 204 } };

  before(async () => {
    const apiKeys = [
      { name: 'root', key: 'root', role: 'admin' as const },
      { name: 'eye', key: 'eye', role: 'viewer' as const },
    ];
    server = await ApiServer.start({ options: { apiKeys } });
    await create('routes', { id: 'all', name: 'all', priority: 1, match: { pathPrefix: '/' }, ...answer });
  });

  after(async () => {
    await server.stop();
    await large?.stop();
  });

  it('tells a viewer what is wrong with the staged configuration, with a witness as explain takes it', async () => {
    expect((await ask()).json).to.include({ of: 'staged' });
    expect((await ask()).json.counts).to.deep.equal({ error: 0, warning: 0, info: 0 });
    await create('routes', { id: 'lost', name: 'lost', match: { path: '/lost' }, ...answer });
    const { status, json } = await ask('?of=staged');
    expect(status).to.equal(200);
    expect(json.counts).to.deep.equal({ error: 1, warning: 0, info: 0 });
    const [finding] = json.findings as [Finding];
    expect(finding).to.deep.include({ rule: 'unreachable-route', severity: 'error', kind: 'routes', id: 'lost' });
    expect(finding.because).to.deep.equal([{ kind: 'routes', id: 'all', name: 'all', pointer: '/match' }]);
    const body = { ...(finding.witness as object), snapshot: 'staged' };
    const explained = await server.call('POST', '/explain', { body, key: 'eye' });
    expect(explained.json).to.have.nested.property('winner.route.id', 'all');
  });

  it('refuses a capture with failOn, and lists the findings', async () => {
    const refused = await server.call('POST', '/snapshots?failOn=error', { body: { name: 'v1' }, key: 'root' });
    expect(refused.status, refused.text).to.equal(422);
    const { error, findings } = refused.json as { error: string; findings: Finding[] };
    expect(error).to.contain('1 of severity error');
    expect(findings.map(({ id }) => id)).to.deep.equal(['lost']);
    const wrong = await server.call('POST', '/snapshots?failOn=fatal', { body: { name: 'v1' }, key: 'root' });
    expect(wrong.status).to.equal(400);
    const empty = await server.call('POST', '/snapshots?failOn=', { body: { name: 'v1' }, key: 'root' });
    expect(empty.status).to.equal(400);
  });

  it('counts those above info in the warnings of a capture', async () => {
    const { status, json } = await server.call('POST', '/snapshots', { key: 'root', body: { name: 'counted' } });
    expect(status).to.equal(201);
    const { warnings } = json as { warnings: { pointer: string; message: string }[] };
    const counted = warnings.filter(({ message }) => message.startsWith('findings: '));
    const { json: found } = await server.call('GET', '/findings', { key: 'eye' });
    const { counts } = found as { counts: { error: number; warning: number } };
    expect(counted).to.deep.equal([
      {
        pointer: '',
        message: `findings: ${counts.error} of severity error, ${counts.warning} of severity warning; GET /findings lists them`,
      },
    ]);
  });

  it('says in the warnings of a capture that a table is too large to count', async () => {
    large = await ApiServer.start();
    const operations = Array.from({ length: 20_001 }, (_, at) => ({
      ...{ op: 'upsert', kind: 'routes' },
      body: { id: `r${at}`, name: `r${at}`, match: { path: `/${at}` }, ...answer },
    }));
    for (const some of [operations.slice(1), operations.slice(0, 1)])
      expect((await large?.call('POST', '/batch', { body: { operations: some } }))?.status).to.equal(200);
    const { json } = await large.call('POST', '/snapshots', { body: { name: 'large' } });
    const { warnings } = json as { warnings: { pointer: string; message: string }[] };
    const message = 'findings: not counted, because there are more than 20000 routes; GET /findings lists them';
    expect(warnings).to.deep.equal([{ pointer: '', message }]);
  });

  it('refuses a batch whose snapshot has a failOn that is empty or unknown: it would hold nothing back', async () => {
    for (const failOn of ['', 'fatal']) {
      const sent = { operations: [], snapshot: { name: 'empty', failOn } };
      const { status, json } = await server.call('POST', '/batch', { body: sent, key: 'root' });
      expect([status, json]).to.deep.equal([400, { error: '/snapshot/failOn must be one of error, warning, info' }]);
    }
  });

  it('refuses a batch whose snapshot has failOn, and takes it when the fault is mended in it', async () => {
    const batch = (operations: object[]) =>
      server.call('POST', '/batch', { body: { operations, snapshot: { name: 'v2', failOn: 'warning' } }, key: 'root' });
    const refused = await batch([
      { op: 'create', kind: 'routes', body: { id: 'c', name: 'c', match: { path: '/c' }, ...answer } },
    ]);
    expect(refused.status, refused.text).to.equal(422);
    expect(Object.keys(refused.json as object)).to.have.members(['error', 'findings']);
    expect((await server.call('GET', '/routes/c', { key: 'root' })).status).to.equal(404);
    const taken = await batch([{ op: 'delete', kind: 'routes', id: 'lost' }]);
    expect(taken.status, taken.text).to.equal(200);
  });

  it('shows no value of a secret, be it in a witness or a message', async () => {
    const snapshot = String((await create('snapshots', { name: 'before' })).id);
    await create('secrets', { id: 's', name: 's', value: canary });
    await create('secrets', { id: 'idle', name: 'idle', value: `${canary}-idle` });
    const path = '/{{secret:value:s}}';
    await create('routes', { id: 'hidden', name: 'hidden', match: { path }, ...answer });
    await create('routes', {
      id: 'loop',
      name: 'loop',
      match: { path: `${path}/loop` },
      priority: 2,
      redirect: { path: `${path}/loop` },
    });
    const { json, text } = await ask();
    expect(json.findings.map(({ rule, id }) => `${rule} ${id}`)).to.have.members([
      'unreachable-route hidden',
      'redirect-loop loop',
      'unused idle',
    ]);
    expect(text).to.not.match(/canary/i);
    const refused = await server.call('POST', '/snapshots?failOn=info', { body: { name: 'v3' }, key: 'root' });
    expect(refused.status).to.equal(422);
    expect(refused.text).to.not.match(/canary/i);
    expect((await ask(`?of=${snapshot}`)).json.findings).to.deep.equal([]);
  });

  it('answers 404 for a snapshot that is not there, and where none is active', async () => {
    expect((await ask('?of=nothing')).status).to.equal(404);
    expect((await ask('?of=active')).status).to.equal(404);
  });
});
