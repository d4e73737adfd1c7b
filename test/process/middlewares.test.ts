// State of middlewares that the workers of a process share: each test would fail if a worker had its own.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { MiddlewareBed } from '../support/middleware-bed.ts';
import { secretHashes } from '../support/password-hashes.ts';
import { TemporaryDirectories } from '../support/temporary-directory.ts';
import { inAnHour, jwksOf, signerOf, tokenOf } from '../support/tokens.ts';

const workers = 3;

describe(`middlewares with ${workers} workers`, () => {
  const directories = new TemporaryDirectories();
  const bed = new MiddlewareBed({ workers });
  after(async () => {
    await bed.end();
    await directories.removeAll();
  });

  it('rateLimit: 20 allowed are 20, also after an activation', async () => {
    const limit = { type: 'rateLimit', rateLimit: { requestsPerSecond: 0.001, burst: 20 } } as const;
    const allowed = async (count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => bed.ask()));
      return answers.filter(({ status }) => status === 200).length;
    };
    await bed.serve([limit]);
    expect(await allowed(15)).to.equal(15);
    await bed.serve([limit], { route: { name: 'another' } });
    expect(await allowed(60)).to.equal(5);
  });

  it('accessLog: one file with whole lines, none missing, all there when the proxy has closed', async () => {
    const path = join(await directories.make(), 'access.log');
    const pad = 'x'.repeat(500);
    const fields = { n: '${request.header.x-n}', pad };
    await bed.serve([{ type: 'accessLog', accessLog: { path, onResponse: { fields } } }]);
    const wanted = Array.from({ length: 300 }, (_, i) => `n=${i} pad=${pad}`);
    await Promise.all(wanted.map((_, i) => bed.ask({ headers: { 'x-n': String(i) } })));
    await eventually(() => {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
      expect(lines.sort()).to.deep.equal(wanted.sort());
    });
  });

  it('basicAuth and compress: each worker hashes passwords and codes bodies', async () => {
    const users = Object.entries(secretHashes).map(([name, hash]) => `${name}:${hash}`);
    await bed.serve([
      { type: 'basicAuth', basicAuth: { users: users.join('\n') } },
      { type: 'compress', compress: { algorithms: ['gzip'] } },
    ]);
    const body = JSON.stringify(Array.from({ length: 1000 }, (_, i) => ({ i })));
    const former = bed.answer;
    bed.answer = { status: 200, headers: { 'content-type': 'application/json' }, body };
    const ask = async (name: string, password: string) => {
      const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
      const headers = { authorization, connection: 'close', 'accept-encoding': 'gzip' };
      const response = await fetch(`http://127.0.0.1:${bed.port}/`, { headers });
      return [response.status, response.headers.get('content-encoding'), await response.text()];
    };
    const names = Array.from({ length: 5 }, () => Object.keys(secretHashes)).flat();
    for (const answer of await Promise.all(names.map((name) => ask(name, 'secret'))))
      expect(answer).to.deep.equal([200, 'gzip', body]);
    for (const answer of await Promise.all(names.map((name) => ask(name, 'wrong'))))
      expect(answer).to.deep.equal([401, null, '{"error":"invalid credentials"}']);
    bed.answer = former;
  });

  it('jwt: keys are fetched once, whichever worker asks, and a new set reaches all', async () => {
    let asked = 0;
    const [first, second] = [signerOf('ES256'), signerOf('EdDSA')];
    let document = jwksOf(first.jwk);
    const port = await bed.bed.upstream((_request, response) => {
      asked++;
      response.end(document);
    });
    const serve = (forwardJwt: boolean) =>
      bed.serve([{ type: 'jwt', jwt: { issuer: 'i', jwksPath: '/', jwksDestinationId: 'k', forwardJwt } }], {
        more: { destinations: [{ id: 'k', name: 'k', host: '127.0.0.1', port }] },
      });
    const statuses = async (signer: typeof first) => {
      const authorization = `Bearer ${tokenOf(signer, { iss: 'i', exp: inAnHour() })}`;
      const answers = await Promise.all(Array.from({ length: 30 }, () => bed.ask({ headers: { authorization } })));
      return [...new Set(answers.map(({ status }) => status))];
    };
    await serve(false);
    expect(await statuses(first)).to.deep.equal([200]);
    expect(await statuses(second)).to.deep.equal([401]);
    expect(asked).to.equal(1);
    document = jwksOf(second.jwk);
    await serve(true);
    await eventually(async () => expect(await statuses(second)).to.deep.equal([200]));
    expect(await statuses(first)).to.deep.equal([401]);
    expect(asked).to.equal(2);
  });
});
