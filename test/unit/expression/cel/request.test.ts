import { expect } from 'chai';
import { compileCel } from '../../../../src/expression/cel/compiled-program.ts';
import { aRequest } from './request-facts.ts';

const holds = (source: string, view = aRequest()): boolean =>
  compileCel(source, 'request', 'bool').decide(view) === true;

describe('a request expression', () => {
  it('reads every field of the request', () => {
    const view = aRequest({
      method: 'POST',
      path: '/a/b',
      host: 'h.test',
      scheme: 'https',
      clientIp: '::1',
      query: 'q=a+b&q=c&e=',
      headers: { 'x-user': 'ann' },
      tls: { peerCertificate: { uris: ['spiffe://a'], dnsNames: ['d'], subject: 'CN=a', serial: 'ff' } },
    });
    for (const source of [
      'request.method == "POST" && request.path == "/a/b" && request.host == "h.test"',
      'request.scheme == "https" && request.clientIp == "::1"',
      'request.headers["x-user"] == "ann" && request.headers.exists(h, h == "x-user")',
      'request.queryParams.q == "a b" && request.queryParams["e"] == "" && size(request.queryParams) == 2',
      'request.tls.peerCertificate.uris.exists(u, u.startsWith("spiffe://"))',
      'request.tls.peerCertificate.subject == "CN=a" && request.tls.peerCertificate.serial == "ff"',
      '[request.tls].all(t, t.peerCertificate.dnsNames == ["d"])',
      'request[request.queryParams.e + "path"] == "/a/b"',
      'request["method"] == "POST" && "tls" in request && !("x" in request.headers)',
      'cel.bind(user, request.headers["x-user"], user + user == "annann")',
    ]) {
      expect(holds(source, view), source).to.equal(true);
    }
  });

  it('orders texts by their code points', () => {
    const view = aRequest({ headers: { a: '\uffee', b: '\u{1f600}', c: '\u{1f600}a', d: 'z' } });
    const inOrder = ['d', 'a', 'b', 'c'].map((name) => `request.headers.${name}`);
    inOrder.forEach((left, i) => {
      inOrder.forEach((right, j) => {
        expect(holds(`${left} < ${right}`, view), `${left} < ${right}`).to.equal(i < j);
        expect(holds(`${left} >= ${right}`, view), `${left} >= ${right}`).to.equal(i >= j);
      });
    });
  });

  it('is false when a header, the body or the certificate is absent', () => {
    for (const source of [
      'request.headers["x-user"] == "ann"',
      'request.headers["x-user"] != "ann"',
      'request.headers.host == "shop.test"',
      'request.body.raw == ""',
      'request.body.json.a == 1',
      'request.tls.peerCertificate.subject == "a"',
      'has(request.tls)',
      'has(request.body)',
      'has(request.headers.host)',
      'has(request.tls.peerCertificate)',
      '"body" in request',
    ]) {
      expect(holds(source), source).to.equal(false);
    }
  });

  it('fails on what lies under something absent, has() and in of it too', () => {
    for (const source of [
      'has(request.body.json)',
      'has(request.body.raw)',
      '"json" in request.body',
      'has(request.tls.peerCertificate)',
      'has(request.tls.peerCertificate.subject)',
      '"subject" in request.tls.peerCertificate',
    ]) {
      expect(holds(source), source).to.equal(false);
      expect(holds(`!(${source})`), `not ${source}`).to.equal(false);
    }
    const withBody = aRequest({ body: 'x' });
    expect(holds('has(request.body) && !has(request.body.json) && !("json" in request.body)', withBody)).to.equal(true);
  });

  it('absorbs the failure of one side when the other decides', () => {
    expect(holds('request.headers["x"] == "a" || true')).to.equal(true);
    expect(holds('!(request.headers["x"] == "a" && false)')).to.equal(true);
    expect(holds('[1, 2].exists(i, i == 2 || request.headers["x"] == "a")')).to.equal(true);
  });

  it('reads whole numbers of a body as ints and others as doubles', () => {
    const body = '{"n":5,"big":9007199254740993,"half":0.5,"nul":null,"deep":{"list":[1,{"a":"b"}]}}';
    const view = aRequest({ headers: { 'content-type': 'application/json; charset=utf-8' }, body });
    for (const source of [
      'request.body.json.n + 1 == 6',
      'string(request.body.json.big) == "9007199254740993"',
      'request.body.json.half + 0.5 == 1.0',
      'request.body.json.nul == null && has(request.body.json.nul)',
      'request.body.json.deep.list[1].a == "b" && size(request.body.json.deep.list) == 2',
      'request.body.raw.startsWith("{")',
    ]) {
      expect(holds(source, view), source).to.equal(true);
    }
  });

  it('has the json of a body, with its type in upper or lower case, as backends read it (security.md S31)', () => {
    for (const type of ['Application/JSON', 'APPLICATION/json;charset=utf-8', 'application/json;']) {
      const view = aRequest({ headers: { 'content-type': type }, body: '{"role":"admin"}' });
      expect(holds('request.body.json.role == "admin"', view), type).to.equal(true);
    }
  });

  it('has no json of a body that is no object, of another type, or cut', () => {
    const json = { 'content-type': 'application/json' };
    expect(holds('has(request.body.json)', aRequest({ headers: json, body: '[1]' }))).to.equal(false);
    expect(holds('has(request.body.json)', aRequest({ headers: json, body: '{' }))).to.equal(false);
    expect(holds('has(request.body.json)', aRequest({ body: '{}' }))).to.equal(false);
    const cut = aRequest({ headers: json });
    cut.attachBody({ raw: '{}', whole: false });
    expect(holds('has(request.body.raw) && !has(request.body.json)', cut)).to.equal(true);
  });

  it('sees no inherited property in what a client sent', () => {
    const view = aRequest({ headers: { 'content-type': 'application/json' }, body: '{"__proto__":{"admin":true}}' });
    expect(holds('request.body.json.admin == true', view)).to.equal(false);
    expect(holds('has(request.body.json.constructor)', view)).to.equal(false);
    expect(holds('has(request.headers.constructor)', view)).to.equal(false);
  });

  it('knows whether it needs the body', () => {
    const needs = (source: string) => compileCel(source, 'request', 'bool').needsBody;
    for (const source of [
      'request.body.raw == ""',
      'has(request.body)',
      'request["body"].raw == "a"',
      '"body" in request',
      '[1].all(i, has(request.body.json.a))',
      'request[request.path] == 1',
    ]) {
      expect(needs(source), source).to.equal(true);
    }
    expect(needs('request.path == "request.body"')).to.equal(false);
    expect(needs('["a"].all(request, request == "body")')).to.equal(false);
  });

  it('matches by RE2, anywhere in the text', () => {
    expect(holds('request.path.matches("^/[a-z]+$")', aRequest({ path: '/abc' }))).to.equal(true);
    expect(holds('matches(request.path, "b")', aRequest({ path: '/abc' }))).to.equal(true);
  });

  it('hands timestamps, durations and unsigned integers to the library', () => {
    const headers = { 'x-at': '2026-01-02T03:04:05Z' };
    for (const source of [
      'timestamp(request.headers["x-at"]) > timestamp("2025-01-01T00:00:00Z")',
      'timestamp(request.headers["x-at"]).getHours() == 3',
      'timestamp(request.headers["x-at"]) + duration("1h") == timestamp("2026-01-02T04:04:05Z")',
      'int(timestamp(0)) == 0 && string(timestamp(0)) == "1970-01-01T00:00:00Z"',
      'duration(duration("60s")) == duration("1m") && string(duration("90s")) == "90s"',
      'uint(3) + 2u == 5u && int(5u) == 5 && 5u == dyn(5) && dyn(1u) != "a"',
      'type(request.path) == string && type(1) != string',
      'bytes("a") + b"b" == b"ab"',
      'b"é日" == bytes("é日") && size(b"é日😀") == 9 && b\'\'\'é\'\'\' == b"\\xc3\\xa9" && string(b"aé") == "aé"',
      'b"\\xff".size() == 1 && "é".size() == 1 && [b"é"][0].size() == 2',
    ]) {
      expect(holds(source, aRequest({ headers })), source).to.equal(true);
    }
    expect(holds('timestamp(request.headers["x-at"]) > timestamp(0)')).to.equal(false);
  });
});

describe('the string functions', () => {
  for (const source of [
    '["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b"',
    '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"] && "a".split(",", 0) == []',
    '"aÄ".lowerAscii() == "aÄ" && "Ab".lowerAscii() == "ab" && "Ab".upperAscii() == "AB"',
    '" a ".trim() == "a"',
    '"aba".replace("a", "$&") == "$&b$&" && "aba".replace("a", "c", 1) == "cba" && "ab".replace("", "-") == "-a-b-"',
    '"abc".substring(1) == "bc" && "abc".substring(1, 2) == "b" && "😀b".substring(1) == "b"',
    '"abc".indexOf("c") == 2 && "abc".indexOf("z") == -1 && "abca".indexOf("a", 1) == 3 && "😀b".indexOf("b") == 1',
    '"abca".lastIndexOf("a") == 3 && "abc".charAt(1) == "b" && "abc".charAt(3) == ""',
    'size("😀") == 1 && "".size() == 0',
    'int("42") == 42 && double("1.5") == 1.5 && string(1.5) == "1.5" && bool("true") && string(7) == "7"',
  ]) {
    it(`hold: ${source}`, () => {
      expect(holds(source)).to.equal(true);
    });
  }

  for (const source of ['"abc".substring(4) == ""', '"abc".substring(2, 1) == ""', 'int("") == 0', 'int(1e99) == 0']) {
    it(`fail: ${source}`, () => {
      expect(holds(source)).to.equal(false);
    });
  }
});

describe('a claims expression', () => {
  const claims = { level: 5, tier: 2, roles: ['admin'], nul: null, 'https://x/role': 'ops', admin: true, big: 1.8e9 };
  const value = (source: string) => compileCel(source, 'claims', 'any').value({ claims, now: 1_700_000_000.9 });

  for (const [source, expected] of [
    ['claims.level >= 5', true],
    ['claims.level in [5, 6]', true],
    ['claims.level > 1.5', true],
    ['claims.roles.exists(r, r == "admin")', true],
    ['string(claims.tier)', '2'],
    ['claims.level + 1 > 5', undefined],
    ['claims.level % 2 == 1', undefined],
    ['int(claims.level) + 1 > 5', true],
    ['claims.level + 1.0 > 5.0', true],
    ['claims.nope == 1', undefined],
    ['has(claims.nope) && claims.nope == 1', false],
    ['claims["https://x/role"] == "ops"', true],
    ['claims.nul == null', true],
    ['string(claims.big)', '1800000000'],
    ['now', 1_700_000_000n],
    ['claims.admin', true],
  ] as const) {
    it(`gives what the table says: ${source}`, () => {
      expect(value(source)).to.equal(expected);
    });
  }

  it('matches only when it is true, not when it is merely there', () => {
    const test = (source: string) => compileCel(source, 'claims', 'bool').decide({ claims, now: 0 });
    expect(test('claims.admin')).to.equal(true);
    expect(test('claims.tier')).to.equal('error');
  });
});
