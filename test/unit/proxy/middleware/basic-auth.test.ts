// Middleware basicAuth: hashes that other programs made, and requests on real sockets.
import { expect } from 'chai';
import { parsePasswordHash } from '../../../../src/model/password-hash.ts';
import { PasswordChecks } from '../../../../src/proxy/middleware/basic-auth/password-checks.ts';
import { piFraction } from '../../../../src/proxy/middleware/basic-auth/pi-fraction.ts';
import { isPassword } from '../../../../src/proxy/middleware/basic-auth/verify-password.ts';
import { buildBasicAuth } from '../../../../src/proxy/middleware/basic-auth.ts';
import { storedConsumers } from '../../../support/consumers.ts';
import { MiddlewareBed } from '../../../support/middleware-bed.ts';
import { secretHashes, umlautHash } from '../../../support/password-hashes.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

const hashOf = (text: string) => {
  const hash = parsePasswordHash(text);
  if (typeof hash === 'string') throw new Error(hash);
  return hash;
};

describe('password hashes', () => {
  for (const [by, text] of Object.entries(secretHashes))
    it(`${by}: the password is right, every other one wrong`, async () => {
      expect(await isPassword(Buffer.from('secret'), hashOf(text))).to.equal(true);
      for (const wrong of ['Secret', 'secret ', 'secre', ''])
        expect(await isPassword(Buffer.from(wrong), hashOf(text)), wrong).to.equal(false);
    });

  it('SHA-512-crypt: rounds and a long salt, by the vector of its specification', async () => {
    const hash = hashOf(
      '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
    );
    expect(await isPassword(Buffer.from('Hello world!'), hash)).to.equal(true);
  });

  it('bcrypt: bytes of UTF-8 count, and the first 72 alone', async () => {
    expect(await isPassword(Buffer.from('päss wörd'), hashOf(umlautHash))).to.equal(true);
    // The first vector of OpenBSD's regression tests.
    const openbsd = hashOf('$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW');
    expect(await isPassword(Buffer.from('U*U'), openbsd)).to.equal(true);
  });

  it('Blowfish begins with pi: 3.243F6A88 in hexadecimal', () => {
    const bytes = Buffer.from(piFraction, 'base64');
    expect(bytes.length).to.equal(4 * (18 + 4 * 256));
    expect(bytes.subarray(0, 8).toString('hex')).to.equal('243f6a8885a308d3');
    expect(bytes.subarray(-4).toString('hex')).to.equal('3ac372e6');
  });
});

describe('password checks of a worker', () => {
  it('are one for the same credentials, and refuse more than may wait', async () => {
    const checks = new PasswordChecks(1, 2);
    const hash = hashOf(secretHashes.scrypt);
    const ask = (key: string, password: string) => checks.check(key, Buffer.from(password), hash);
    const [first, same, second, third] = [ask('a', 'secret'), ask('a', 'secret'), ask('b', 'other'), ask('c', 'x')];
    expect(same).to.equal(first);
    expect(third).to.equal(undefined);
    expect([await first, await second]).to.deep.equal([true, false]);
    expect(await ask('c', 'secret')).to.equal(true);
  });
});

describe('middleware basicAuth (contract.md §8.10)', () => {
  let bed: MiddlewareBed;
  beforeEach(() => {
    bed = new MiddlewareBed();
  });
  afterEach(() => bed.end());

  const users = Object.entries(secretHashes).map(([name, hash]) => `${name}:${hash}`);
  const lines = ['# users', '', ...users, `é:${umlautHash}`].join('\r\n');
  const serve = (more: object = {}, around = {}) =>
    bed.serve([{ type: 'basicAuth', basicAuth: { users: lines, ...more } }], around);
  const authorization = (name: string, password: string) =>
    `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const askAs = (name: string, password: string) =>
    bed.ask({ headers: { authorization: authorization(name, password) } });

  for (const name of [...Object.keys(secretHashes)])
    it(`${name}: passes with the password, again from memory, and not with another one`, async () => {
      await serve();
      expect((await askAs(name, 'wrong')).status).to.equal(401);
      expect((await askAs(name, 'secret')).status).to.equal(200);
      expect((await askAs(name, 'secret')).status).to.equal(200);
      expect((await askAs(name, 'wrong')).status).to.equal(401);
      expect(bed.reached).to.have.length(2);
    });

  const refused: readonly (readonly [name: string, value: string | readonly string[] | undefined, error: string])[] = [
    ['no credentials', undefined, 'missing credentials'],
    ['another scheme', 'Bearer abc', 'invalid credentials'],
    ['no Base64', 'Basic !!!', 'invalid credentials'],
    ['no colon', `Basic ${Buffer.from('bcrypt').toString('base64')}`, 'invalid credentials'],
    ['an unknown name', authorization('eve', 'secret'), 'invalid credentials'],
    ['a name of another case', authorization('BCRYPT', 'secret'), 'invalid credentials'],
    ['a NUL behind the password', authorization('bcrypt', 'secret\0x'), 'invalid credentials'],
    ['a name that is a property', authorization('__proto__', 'secret'), 'invalid credentials'],
    ['too long a password', authorization('bcrypt', 's'.repeat(2000)), 'invalid credentials'],
    [
      'two fields, the first of them right',
      [authorization('bcrypt', 'secret'), authorization('bcrypt', 'wrong')],
      'invalid credentials',
    ],
    ['two fields alike', Array(2).fill(authorization('bcrypt', 'secret')), 'invalid credentials'],
  ];
  for (const [name, value, error] of refused)
    it(`is 401: ${name}`, async () => {
      await serve({ realm: 'the "shop"' });
      const answer = await bed.ask({ headers: value === undefined ? {} : { Authorization: value } });
      expect([answer.status, answer.body]).to.deep.equal([401, JSON.stringify({ error })]);
      expect(answer.headers['www-authenticate']).to.equal('Basic realm="the \\"shop\\"", charset="UTF-8"');
      expect(answer.headers['content-type']).to.equal('application/json');
      expect(bed.reached).to.have.length(0);
    });

  it('an unknown name waits for a hash as a known one does, and what is no credential waits for none', async () => {
    const basicAuth = buildBasicAuth({ users: `ann:${secretHashes.scrypt}` })({ share: (count) => count });
    const ask = (value: string) =>
      basicAuth.onRequest?.(new StubExchange({ fields: ['Authorization', value] }).seen, 0);
    for (const name of ['ann', 'eve', '']) {
      const answer = ask(authorization(name, 'wrong'));
      expect(answer, name).to.be.an.instanceOf(Promise);
      expect(await answer, name).to.include({ status: 401 });
    }
    expect(ask('Basic !!!')).to.include({ status: 401 });
  });

  it('the scheme is read in any case', async () => {
    await serve();
    const value = authorization('bcrypt', 'secret').replace('Basic ', 'bAsIc  ');
    expect((await bed.ask({ headers: { authorization: value } })).status).to.equal(200);
  });

  it('credentials do not go on, unless asked for', async () => {
    await serve();
    await askAs('scrypt', 'secret');
    expect(bed.lastSent('authorization')).to.equal(undefined);
    await serve({ forwardAuthorization: true });
    await askAs('scrypt', 'secret');
    expect(bed.lastSent('authorization')).to.equal(authorization('scrypt', 'secret'));
  });

  it('the header of the user names the one that was verified, in no spelling another', async () => {
    await serve({ userHeader: 'X-User' });
    const headers = { authorization: authorization('é', 'päss wörd'), 'x-user': 'root', X_User: 'root' };
    expect((await bed.ask({ headers })).status).to.equal(200);
    expect(Buffer.from(String(bed.lastSent('x-user')), 'latin1').toString('utf8')).to.equal('é');
    expect(bed.lastSent('x_user')).to.equal(undefined);
  });

  it('where it is skipped, a client cannot name a user', async () => {
    await serve(
      { userHeader: 'X-User' },
      { route: { middlewareOverrides: { m0: { skipWhen: ['request.path == "/open"'] } } } },
    );
    expect((await bed.ask({ path: '/open', headers: { 'x-user': 'root' } })).status).to.equal(200);
    expect(bed.lastSent('x-user')).to.equal(undefined);
  });

  it('many requests at once with the same new credentials all pass', async () => {
    await serve();
    const answers = await Promise.all(Array.from({ length: 40 }, () => askAs('bcrypt', 'secret')));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(40).fill(200));
  });

  describe('with consumers', () => {
    const ann = (passwordHash: string) => ({
      id: 'c',
      name: 'the consumer',
      credentials: [{ type: 'basic', username: 'ann', passwordHash }],
    });
    const tell = {
      type: 'headers',
      headers: { requestHeadersToAdd: [{ key: 'x-consumer', value: `\${consumer.name}` }] },
    } as const;
    const serveWith = (basicAuth: object, ...consumers: readonly object[]) =>
      bed.serve([{ type: 'basicAuth', basicAuth }, tell], { more: { consumers: storedConsumers(...consumers) } });
    const outcome = async (name: string, password: string) => {
      const { status } = await askAs(name, password);
      return status === 200 ? bed.lastSent('x-consumer') : status;
    };

    it('lets them in where it says so alone, and names them', async () => {
      await serveWith({ users: `bob:${secretHashes.bcrypt}` }, ann(secretHashes.bcrypt));
      expect(await outcome('ann', 'secret')).to.equal(401);
      await serveWith({ consumers: true }, ann(secretHashes.bcrypt));
      expect(await outcome('ann', 'secret')).to.equal('the consumer');
      expect(await outcome('ann', 'secret'), 'again from memory').to.equal('the consumer');
      expect(await outcome('ann', 'wrong')).to.equal(401);
      expect(await outcome('eve', 'secret')).to.equal(401);
    });

    it('names the consumer of a user whose password is that of the consumer, and of no other user', async () => {
      const users = `ann:${secretHashes.bcrypt}\nbob:${secretHashes.bcrypt}`;
      await serveWith({ users }, ann(secretHashes.bcrypt));
      expect([await outcome('ann', 'secret'), await outcome('bob', 'secret')]).to.deep.equal(['the consumer', '']);
      await serveWith({ users }, ann(secretHashes.scrypt));
      expect(await outcome('ann', 'secret'), 'another hash of the same password').to.equal('the consumer');
      for (const consumers of [false, true]) {
        await serveWith({ users, consumers }, ann(umlautHash));
        expect(await outcome('ann', 'secret'), 'a user that has the name by chance').to.equal('');
        expect(await outcome('ann', 'päss wörd'), 'users come first').to.equal(401);
      }
    });

    it('lets no password in that an activation has taken from the consumer', async () => {
      await serveWith({ consumers: true }, ann(secretHashes.bcrypt));
      expect(await outcome('ann', 'secret')).to.equal('the consumer');
      await serveWith({ consumers: true }, ann(umlautHash));
      expect(await outcome('ann', 'secret')).to.equal(401);
      expect(await outcome('ann', 'päss wörd')).to.equal('the consumer');
      await serveWith({ consumers: true });
      expect(await outcome('ann', 'päss wörd')).to.equal(401);
    });
  });

  it('another password counts from the activation on, and the former one does not', async () => {
    await serve();
    expect((await askAs('bcrypt', 'secret')).status).to.equal(200);
    await bed.serve([{ type: 'basicAuth', basicAuth: { users: `bcrypt:${umlautHash}` } }]);
    expect((await askAs('bcrypt', 'secret')).status).to.equal(401);
    expect((await askAs('bcrypt', 'päss wörd')).status).to.equal(200);
  });
});
