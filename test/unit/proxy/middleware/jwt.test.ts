import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { JwtConfig } from '../../../../src/model/middleware/jwt-options.ts';
import type { KeySource } from '../../../../src/proxy/middleware/jwt/key-source.ts';
import { isSignedBy } from '../../../../src/proxy/middleware/jwt/signature.ts';
import { keysOfInline } from '../../../../src/proxy/middleware/jwt/verification-keys.ts';
import { buildJwt, keySourceOf } from '../../../../src/proxy/middleware/jwt.ts';
import { PoolTurns } from '../../../../src/proxy/middleware/pool-turns.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { ask, rejectionOf, StubExchange, type StubRequest } from '../../../support/stub-exchange.ts';
import { hmacToken, inAnHour, jwksOf, part, type Signer, signer, signerOf, tokenOf } from '../../../support/tokens.ts';

const issuer = 'https://login.example.com/';
const none: KeySource = { keys: [], version: 0, fetched: async () => {}, refetched: () => undefined };

describe('middleware jwt (contract.md §8.4)', () => {
  const clock = new ManualClock();
  const good = { iss: issuer, exp: inAnHour(clock.nowMs()), sub: 'ann' };
  const es256 = signerOf('ES256');
  const built = (config: Partial<JwtConfig> = {}) => {
    const whole = { issuer, jwksInline: jwksOf(es256.jwk), ...config };
    return buildJwt(whole)(
      keySourceOf(whole)(() => none),
      clock,
    );
  };
  const bearing = (authorization: string | undefined, more: readonly string[] = []): StubRequest => ({
    clock,
    fields: [...(authorization === undefined ? [] : ['Authorization', authorization]), ...more],
  });
  const outcome = async (authorization: string | undefined, config?: Partial<JwtConfig>) =>
    (await rejectionOf(ask(built(config), new StubExchange(bearing(authorization))))) ?? 'passes';
  const token = (claims: object = {}, header: object = {}, by: Signer = es256) =>
    tokenOf(by, { ...good, ...claims }, header);
  const of = (claims: object, config?: Partial<JwtConfig>) => outcome(`Bearer ${token(claims)}`, config);

  describe('the steps, in their order', () => {
    const [head = '', payload = '', signature = ''] = token().split('.');
    const rows: readonly (readonly [string, string | undefined, string])[] = [
      ['no Authorization', undefined, '401 missing authorization token'],
      ['another scheme', 'Basic YTpi', '401 missing authorization token'],
      ['the scheme in lower case', `bearer ${token()}`, 'passes'],
      ['the scheme in capitals, with blanks', `BEARER   ${token()}`, 'passes'],
      ['another scheme that begins alike', `Bearers ${token()}`, '401 missing authorization token'],
      ['the scheme without a blank', `Bearer${token()}`, '401 missing authorization token'],
      ['the scheme alone', 'Bearer ', '401 missing authorization token'],
      ['two parts', `Bearer ${head}.${payload}`, '401 invalid token format'],
      ['four parts', `Bearer ${token()}.x`, '401 invalid token format'],
      ['a header that is no base64url', `Bearer *.${payload}.${signature}`, '401 invalid token header'],
      ['a padded header', `Bearer ${head}==.${payload}.${signature}`, '401 invalid token header'],
      ['a header that is no JSON', `Bearer ${btoa('{')}.${payload}.${signature}`, '401 invalid token header'],
      ['a header that is a list', `Bearer ${part([])}.${payload}.${signature}`, '401 invalid token header'],
      ['claims that are no base64url', `Bearer ${head}.*.${signature}`, '401 invalid token claims'],
      ['claims that are a list', `Bearer ${head}.${part([])}.${signature}`, '401 invalid token claims'],
      ['claims that are null', `Bearer ${head}.${part(null)}.${signature}`, '401 invalid token claims'],
      ['claims that are no UTF-8', `Bearer ${head}.eyJhIjoi_yJ9.${signature}`, '401 invalid token claims'],
      ['a signature that is no base64url', `Bearer ${head}.${payload}.*`, '401 invalid token signature'],
      [
        'a signature of another text',
        `Bearer ${head}.${part({ ...good, sub: 'bob' })}.${signature}`,
        '401 token validation failed',
      ],
      ['no signature', `Bearer ${head}.${payload}.`, '401 token validation failed'],
      ['a good token', `Bearer ${token()}`, 'passes'],
    ];
    for (const [name, authorization, expected] of rows) {
      it(`${name}: ${expected}`, async () => expect(await outcome(authorization)).to.equal(expected));
    }

    it('a 401 says WWW-Authenticate: Bearer and is JSON, a 403 has none', async () => {
      const reply = async (claims: object, config: Partial<JwtConfig>) =>
        ask(built(config), new StubExchange(bearing(`Bearer ${token(claims)}`)));
      expect(await reply({ exp: 1 }, {})).to.deep.include({
        fields: ['Content-Type', 'application/json', 'WWW-Authenticate', 'Bearer'],
      });
      expect(await reply({}, { assertClaims: ['false'] })).to.deep.include({
        fields: ['Content-Type', 'application/json'],
      });
    });
  });

  describe('claims', () => {
    const now = Math.floor(clock.nowMs() / 1000);
    const failed = '401 token validation failed';
    const rows: readonly (readonly [string, object, Partial<JwtConfig>, string])[] = [
      ['another issuer', { iss: 'https://evil.example' }, {}, failed],
      ['no issuer', { iss: undefined }, {}, failed],
      ['exp now', { exp: now }, {}, 'passes'],
      ['exp a second ago', { exp: now - 1 }, {}, failed],
      ['exp as a float', { exp: now + 0.5 }, {}, 'passes'],
      ['no exp', { exp: undefined }, {}, failed],
      ['exp as a text', { exp: String(now + 60) }, {}, failed],
      ['nbf now', { nbf: now }, {}, 'passes'],
      ['nbf in a second', { nbf: now + 1 }, {}, failed],
      ['nbf as a text', { nbf: '0' }, {}, failed],
      ['aud unchecked', { aud: 'x' }, {}, 'passes'],
      ['aud text', { aud: 'a' }, { audiences: ['a', 'b'] }, 'passes'],
      ['aud list', { aud: ['x', 'b'] }, { audiences: ['a', 'b'] }, 'passes'],
      ['aud another', { aud: ['x'] }, { audiences: ['a'] }, failed],
      ['aud missing', {}, { audiences: ['a'] }, failed],
      ['assertion true', {}, { assertClaims: ['claims.sub == "ann"', 'now > 0'] }, 'passes'],
      ['assertion false', {}, { assertClaims: ['true', 'claims.sub == "bob"'] }, '403 claim assertion failed'],
      ['assertion that fails', {}, { assertClaims: ['claims.none == "x"'] }, '403 claim assertion failed'],
      ['assertion with list functions', { r: ['a', 'b'] }, { assertClaims: ['claims.r.join(",") == "a,b"'] }, 'passes'],
    ];
    for (const [name, claims, config, expected] of rows) {
      it(`${name}: ${expected}`, async () => expect(await of(claims, config)).to.equal(expected));
    }
  });

  describe('algorithms', () => {
    for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']) {
      const by = signerOf(alg);
      const jwksInline = jwksOf(by.jwk);
      const run = (text: string, config: Partial<JwtConfig> = {}) =>
        outcome(`Bearer ${text}`, { jwksInline, ...config });
      it(`${alg} is verified, and another signature is not`, async () => {
        expect(await run(token({}, {}, by))).to.equal('passes');
        const [head, , signature] = token({}, {}, by).split('.');
        expect(await run(`${head}.${part({ ...good, sub: 'bob' })}.${signature}`)).to.equal(
          '401 token validation failed',
        );
      });
      it(`${alg} as PEM`, async () => {
        const pem = by.publicKey.export({ format: 'pem', type: 'spki' }).toString();
        expect(await run(token({}, {}, by), { jwksInline: pem })).to.equal('passes');
      });
      it(`${alg} with a key that says it is for another algorithm is refused`, async () => {
        const other = alg === 'ES256' ? 'ES384' : 'ES256';
        expect(await run(token({}, {}, by), { jwksInline: jwksOf({ ...by.jwk, alg: other }) })).to.equal(
          '401 token validation failed',
        );
        expect(await run(token({}, {}, by), { jwksInline: jwksOf({ ...by.jwk, alg }) })).to.equal('passes');
      });
    }

    it('PS is not verified as RS, nor RS as PS', async () => {
      const jwksInline = jwksOf(signerOf('RS256').jwk);
      for (const [made, said] of [
        ['PS256', 'RS256'],
        ['RS256', 'PS256'],
      ] as const) {
        const text = token({}, { alg: said }, signerOf(made));
        expect(await outcome(`Bearer ${text}`, { jwksInline }), said).to.equal('401 token validation failed');
      }
    });

    it('the curve fixes the hash: an ES384 token by a P-256 key is refused', async () => {
      expect(await outcome(`Bearer ${token({}, { alg: 'ES384' })}`)).to.equal('401 token validation failed');
    });

    it('RSA-4096 and a large exponent are verified away from the event loop', async () => {
      const pair = generateKeyPairSync('rsa', { modulusLength: 4096 });
      const long = signer('RS256', pair, 'sha256', {});
      const jwt = built({ jwksInline: jwksOf(long.jwk) });
      const exchange = () => new StubExchange(bearing(`Bearer ${token({}, {}, long)}`));
      const verdict = ask(jwt, exchange());
      expect(verdict).to.be.an.instanceOf(Promise);
      expect(await verdict).to.equal(undefined);
      expect(ask(jwt, exchange()), 'known by now').to.equal(undefined);
    });
  });

  describe('attacks (security.md S29)', () => {
    it('tokens for a key that takes long wait for their turn of the thread pool; those for a quick one do not', async () => {
      const turns = new PoolTurns(1);
      turns.take({ onTurn: () => {} });
      const slow = signerOf('ES384');
      const config = { issuer, jwksInline: jwksOf(slow.jwk, es256.jwk) };
      const source = keySourceOf(config)(() => none);
      const waiting = buildJwt(config)(source, clock, turns);
      const slowToken = () => new StubExchange(bearing(`Bearer ${token({}, {}, slow)}`));
      let isDecided = false;
      const asked = rejectionOf(ask(waiting, slowToken())).finally(() => {
        isDecided = true;
      });
      expect(await rejectionOf(ask(waiting, new StubExchange(bearing(`Bearer ${token()}`))))).to.equal(undefined);
      const free = buildJwt(config)(source, clock);
      for (let at = 0; at < 3; at++) expect(await rejectionOf(ask(free, slowToken()))).to.equal(undefined);
      expect(isDecided).to.equal(false);
      turns.release();
      expect(await asked).to.equal(undefined);
    });

    const failed = '401 token validation failed';
    const pem = es256.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const stranger = signerOf('ES256');
    const unsigned = `${part({ alg: 'none' })}.${part(good)}.`;
    const rows: readonly (readonly [string, string, string])[] = [
      ['alg none', unsigned, failed],
      ['alg None', unsigned.replace(part({ alg: 'none' }), part({ alg: 'None' })), failed],
      ['no alg', `${part({})}.${part(good)}.AAAA`, failed],
      ['HS256 with the public key as secret', hmacToken(pem, good), failed],
      ['HS256 with the JWK as secret', hmacToken(JSON.stringify(es256.jwk), good), failed],
      ['HS512', hmacToken(pem, good, 'HS512'), failed],
      ['a key of another type', token({}, { alg: 'RS256' }), failed],
      ['crit', token({}, { crit: ['exp'] }), failed],
      ['an empty crit', token({}, { crit: [] }), failed],
      ['b64 without crit', token({}, { b64: false }), failed],
      ['a list of kids', token({}, { kid: ['a', 'b'] }), '401 invalid token header'],
      ['an embedded jwk', token({}, { jwk: stranger.jwk }, stranger), failed],
      ['jku and x5u', token({}, { jku: 'https://evil.example', x5u: 'https://evil.example' }, stranger), failed],
      [
        'ES256 with r = s = 0',
        `${part({ alg: 'ES256' })}.${part(good)}.${Buffer.alloc(64).toString('base64url')}`,
        failed,
      ],
      ['ES256 with a DER signature', `${part({ alg: 'ES256' })}.${part(good)}.MAYCAQECAQE`, failed],
      ['100 KB', token({ long: 'x'.repeat(100_000) }), '401 invalid token format'],
      [
        'a header with two alg',
        `${Buffer.from('{"alg":"none","alg":"ES256"}').toString('base64url')}.${part(good)}.AA`,
        '401 invalid token header',
      ],
      [
        'claims with two sub',
        `${part({ alg: 'ES256' })}.${Buffer.from('{"sub":"a","\\u0073ub":"b"}').toString('base64url')}.AA`,
        '401 invalid token claims',
      ],
      [
        'claims with two names deep inside',
        `${part({ alg: 'ES256' })}.${Buffer.from('{"a":[{"b":1,"b":2}]}').toString('base64url')}.AA`,
        '401 invalid token claims',
      ],
    ];
    for (const [name, text, expected] of rows) {
      it(`${name}: ${expected}`, async () => expect(await outcome(`Bearer ${text}`)).to.equal(expected));
    }

    it('equal names in different objects are no twins', async () => {
      expect(await of({ a: { b: 1 }, c: [{ b: 1 }, { b: 2 }], b: 'b":' })).to.equal('passes');
    });

    it('__proto__ and constructor are names like others', async () => {
      const text = `${part({ alg: 'ES256' })}.${Buffer.from(`{"__proto__":{"iss":"${issuer}"},"exp":${good.exp}}`).toString('base64url')}`;
      const forged = `${text}.${es256.sign(text).toString('base64url')}`;
      expect(await outcome(`Bearer ${forged}`)).to.equal(failed);
    });

    it('several Authorization lines are no token: a backend might read another one', async () => {
      const first = `Bearer ${token()}`;
      for (const more of ['Bearer other', first, 'Basic YTpi']) {
        const exchange = new StubExchange(bearing(first, ['authorization', more]));
        expect(await ask(built({ forwardJwt: true }), exchange)).to.include({ status: 401 });
      }
    });
  });

  describe('keys', () => {
    const inline = (jwksInline: string, header: object = {}) => outcome(`Bearer ${token({}, header)}`, { jwksInline });
    const failed = '401 token validation failed';
    const other = signerOf('ES256').jwk;

    it('a kid counts only when both have one', async () => {
      expect(await inline(jwksOf({ ...es256.jwk, kid: 'a' }), { kid: 'a' })).to.equal('passes');
      expect(await inline(jwksOf({ ...es256.jwk, kid: 'a' }), { kid: 'b' })).to.equal(failed);
      expect(await inline(jwksOf({ ...es256.jwk, kid: 'a' }))).to.equal('passes');
      expect(await inline(jwksOf(es256.jwk), { kid: 'b' })).to.equal('passes');
    });

    it('any key that is left may verify', async () => {
      expect(await inline(jwksOf(other, signerOf('EdDSA').jwk, es256.jwk))).to.equal('passes');
    });

    it('what is no key is passed over; use and other members do not matter', async () => {
      const odd = [null, 1, {}, { kty: 'EC', crv: 'P-256' }, { kty: 'oct', k: 'AAAA' }, { kty: 'RSA', n: '!', e: '!' }];
      expect(await inline(JSON.stringify({ keys: [...odd, { ...es256.jwk, use: 'enc', x5c: [1] }] }))).to.equal(
        'passes',
      );
    });

    it('a document may begin with a byte order mark (RFC 8259 §8.1), with one and no more', async () => {
      const document = jwksOf(es256.jwk);
      expect(await inline(`\uFEFF${document}`)).to.equal('passes');
      expect(() => keysOfInline(`\uFEFF\uFEFF${document}`)).to.throw('must be a JWKS document');
    });

    it('a point that is not on the curve is no key', async () => {
      expect(await inline(jwksOf({ ...es256.jwk, y: other.y }))).to.equal(failed);
    });

    it('no keys: every token 401', async () => expect(await inline(jwksOf())).to.equal(failed));

    it('coordinates may lack their zeros on the left', async () => {
      for (;;) {
        const by = signerOf('ES256');
        const x = Buffer.from(by.jwk.x ?? '', 'base64url');
        if (x[0] !== 0) continue;
        const short = { ...by.jwk, x: x.subarray(1).toString('base64url') };
        expect(await outcome(`Bearer ${token({}, {}, by)}`, { jwksInline: jwksOf(short) })).to.equal('passes');
        return;
      }
    });

    it('RSA keys shorter than 2048 bits are no keys (RFC 7518 §3.3)', async () => {
      const by = signer('RS256', generateKeyPairSync('rsa', { modulusLength: 1024 }), 'sha256', {});
      expect(await outcome(`Bearer ${token({}, {}, by)}`, { jwksInline: jwksOf(by.jwk) })).to.equal(failed);
    });

    for (const text of [
      '{',
      '[]',
      '{"keys":1}',
      'text',
      '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----',
    ]) {
      it(`jwksInline ${JSON.stringify(text)} cannot be built`, () =>
        expect(() => keySourceOf({ issuer, jwksInline: text })).to.throw());
    }

    it('without an issuer, without a source and with two sources it cannot be built', () => {
      expect(() => buildJwt({ issuer: '' })).to.throw('issuer');
      expect(() => keySourceOf({ issuer })).to.throw('jwksPath');
      expect(() => keySourceOf({ issuer, jwksInline: '{}', jwksPath: '/' })).to.throw('both');
      expect(() => buildJwt({ issuer, assertClaims: ['claims.'] })).to.throw('cel');
      expect(() => buildJwt({ issuer, claimToHeaders: [{ expr: '(', header: 'x' }] })).to.throw('cel');
    });
  });

  describe('headers towards the upstream', () => {
    const sent = async (
      claimToHeaders: JwtConfig['claimToHeaders'],
      claims: object,
      fields: readonly string[] = [],
    ) => {
      const exchange = new StubExchange(bearing(`Bearer ${token(claims)}`, fields));
      expect(await ask(built({ claimToHeaders }), exchange)).to.equal(undefined);
      return exchange.sent;
    };

    it('Authorization goes unless forwardJwt says otherwise', async () => {
      expect(await sent([], {})).to.deep.equal([]);
      const exchange = new StubExchange(bearing(`Bearer ${token()}`));
      await ask(built({ forwardJwt: true }), exchange);
      expect(exchange.sent).to.deep.equal([
        `Authorization: Bearer ${token().slice(0, 0)}${exchange.request.lines.value(0).slice(7)}`,
      ]);
    });

    it('a claim that is not there sets nothing, and what the client sent is gone in every spelling', async () => {
      const forged = ['X-User', 'root', 'x_user', 'root', 'X_USER', 'root', 'X-Other', '1'];
      expect(await sent([{ expr: 'claims.none', header: 'X-User' }], {}, forged)).to.deep.equal(['X-Other: 1']);
      expect(await sent([{ expr: 'claims.sub', header: 'X-User' }], {}, forged)).to.deep.equal([
        'X-Other: 1',
        'X-User: ann',
      ]);
    });

    const values: readonly (readonly [string, unknown, string | undefined])[] = [
      ['a text', 'a b', 'a b'],
      ['a text beyond ASCII', 'é', Buffer.from('é').toString('latin1')],
      ['an empty text', '', undefined],
      ['null', null, undefined],
      ['an int', 42, '42'],
      ['a large double', 1e21, '1000000000000000000000'],
      ['a fraction', 1.5, '1.5'],
      ['a bool', false, 'false'],
      ['a list', ['a', 1, true], '["a",1,true]'],
      ['a map', { a: { b: [1e21] } }, '{"a":{"b":[1000000000000000000000]}}'],
      ['a text with line breaks', 'a\r\nX-Admin: 1', undefined],
    ];
    for (const [name, v, expected] of values) {
      it(`${name} becomes ${expected}`, async () =>
        expect(await sent([{ expr: 'claims.v', header: 'X-V' }], { v })).to.deep.equal(
          expected === undefined ? [] : [`X-V: ${expected}`],
        ));
    }

    it('expressions may compute: ints, lists, the time', async () => {
      const headers = [
        { expr: 'size(claims.roles) + 1', header: 'X-A' },
        { expr: 'claims.roles.map(r, r + "!").join(" ")', header: 'X-B' },
        { expr: 'claims.exp - double(now)', header: 'X-C' },
        { expr: '[1, 2]', header: 'X-D' },
      ];
      expect(await sent(headers, { roles: ['a', 'b'] })).to.deep.equal([
        'X-A: 3',
        'X-B: a! b!',
        `X-C: ${good.exp - Math.floor(clock.nowMs() / 1000)}`,
        'X-D: [1,2]',
      ]);
    });
  });

  describe('tokens that were verified before', () => {
    it('are looked at again for their time, and for expressions that ask for it', async () => {
      const moving = new ManualClock();
      const nowS = Math.floor(moving.nowMs() / 1000);
      const config = {
        issuer,
        jwksInline: jwksOf(es256.jwk),
        assertClaims: ['now < claims.until'],
        claimToHeaders: [{ expr: 'now', header: 'X-Now' }],
      };
      const jwt = buildJwt(config)(
        keySourceOf(config)(() => none),
        moving,
      );
      const text = tokenOf(es256, { ...good, exp: nowS + 100, until: nowS + 50 });
      const next = () => {
        const exchange = new StubExchange({ clock: moving, fields: ['Authorization', `Bearer ${text}`] });
        return { exchange, verdict: rejectionOf(ask(jwt, exchange)) };
      };
      expect(await next().verdict).to.equal(undefined);
      moving.advance(49_000);
      const { exchange, verdict } = next();
      expect(await verdict).to.equal(undefined);
      expect(exchange.sent).to.deep.equal([`X-Now: ${nowS + 49}`]);
      moving.advance(1_000);
      expect(await next().verdict).to.equal('403 claim assertion failed');
      moving.advance(51_000);
      expect(await next().verdict).to.equal('401 token validation failed');
    });

    it('count no more when the keys have changed', async () => {
      let keys = keySourceOf({ issuer, jwksInline: jwksOf(es256.jwk) })(() => none).keys;
      let version = 1;
      const source: KeySource = {
        get keys() {
          return keys;
        },
        get version() {
          return version;
        },
        fetched: async () => {},
        refetched: () => undefined,
      };
      const jwt = buildJwt({ issuer, jwksPath: '/k' })(source, clock);
      const next = () => rejectionOf(ask(jwt, new StubExchange(bearing(`Bearer ${token()}`))));
      expect(await next()).to.equal(undefined);
      keys = [];
      version = 2;
      expect(await next()).to.equal('401 token validation failed');
    });

    it('an exchange that was used again meanwhile is left alone', async () => {
      let wake = (): void => {};
      const fetched = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const { keys } = keySourceOf({ issuer, jwksInline: jwksOf(es256.jwk) })(() => none);
      let known: KeySource['keys'];
      const source: KeySource = {
        get keys() {
          return known;
        },
        version: 1,
        fetched: () => fetched,
        refetched: () => undefined,
      };
      const jwt = buildJwt({ issuer, jwksPath: '/k', claimToHeaders: [{ expr: 'claims.sub', header: 'X-User' }] })(
        source,
        clock,
      );
      const exchange = new StubExchange(bearing(`Bearer ${token()}`));
      const verdict = ask(jwt, exchange);
      exchange.state.length = 0;
      known = keys;
      wake();
      await verdict;
      expect(exchange.sent).to.have.length(1);
      expect(exchange.sent.join()).to.not.include('X-User');
    });
  });

  describe('published vectors', () => {
    const at = new ManualClock(1_300_819_000_000);
    const claims = 'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ';
    const run = (jwk: object, text: string) => {
      const config = { issuer: 'joe', jwksInline: jwksOf(jwk) };
      const jwt = buildJwt(config)(
        keySourceOf(config)(() => none),
        at,
      );
      return rejectionOf(ask(jwt, new StubExchange({ clock: at, fields: ['Authorization', `Bearer ${text}`] })));
    };

    it('RFC 7515 A.3: ES256', async () => {
      const jwk = {
        kty: 'EC',
        crv: 'P-256',
        x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
        y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
      };
      const signature = 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q';
      expect(await run(jwk, `eyJhbGciOiJFUzI1NiJ9.${claims}.${signature}`)).to.equal(undefined);
    });

    it('RFC 8037 A.4: EdDSA', () => {
      const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
      const text = 'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc';
      const signature = 'hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg';
      const keys = keysOfInline(jwksOf({ kty: 'OKP', crv: 'Ed25519', x }));
      const jws = { alg: 'EdDSA', kid: undefined, hasCritical: false, claims: {} };
      const bytes = { signed: Buffer.from(text), signature: Buffer.from(signature, 'base64url') };
      expect(isSignedBy({ ...jws, ...bytes }, keys)).to.equal(true);
      expect(isSignedBy({ ...jws, ...bytes, signed: Buffer.from(`${text}x`) }, keys)).to.equal(false);
    });

    it('RFC 7519 §6.1: an unsecured token is refused', async () => {
      expect(await run(es256.jwk, `eyJhbGciOiJub25lIn0.${claims}.`)).to.equal('401 token validation failed');
    });
  });
});
