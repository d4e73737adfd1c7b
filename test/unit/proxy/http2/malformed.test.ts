// What must not become a request, however it is put (RFC 9113 §8): each of these could turn into another request on
// its way to an upstream that speaks HTTP/1.1.
import { expect } from 'chai';
import { block, frame, greeting, request, WHOLE } from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';

type Field = readonly [string, string];

const plain: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'x'],
  [':path', '/'],
];
const without = (name: string): Field[] => plain.filter(([other]) => other !== name);
const instead = (name: string, value: string): Field[] =>
  plain.map(([other, before]) => [other, other === name ? value : before]);

const cases: readonly (readonly [string, readonly Field[]])[] = [
  ['no method', without(':method')],
  ['no scheme', without(':scheme')],
  ['no path', without(':path')],
  ['an empty path', instead(':path', '')],
  ['an empty method', instead(':method', '')],
  ['two methods', [...plain, [':method', 'GET']]],
  ['two paths', [[':path', '/a'], ...plain]],
  ['two authorities', [[':authority', 'y'], ...plain]],
  ['an unknown pseudo-field', [...plain, [':foo', 'bar']]],
  ['a status', [...plain, [':status', '200']]],
  ['a pseudo-field behind others', [...without(':path'), ['a', 'b'], [':path', '/']]],
  ['a method with a blank', instead(':method', 'GET /admin')],
  ['a method with CR LF', instead(':method', 'GET\r\nX: y')],
  ['a path with a blank', instead(':path', '/ HTTP/1.1')],
  ['a path with CR LF', instead(':path', '/\r\nX: y')],
  ['a path with LF', instead(':path', '/\nX: y')],
  ['a path with NUL', instead(':path', '/\0')],
  ['a path with a fragment', instead(':path', '/#a')],
  ['a path with bytes beyond ASCII', instead(':path', '/\xe9')],
  ['a path without a slash', instead(':path', 'a')],
  ['a path of * for GET', instead(':path', '*')],
  ['a whole URL for a path', instead(':path', 'http://y/')],
  ['another scheme', instead(':scheme', 'ftp')],
  ['a scheme with CR LF', instead(':scheme', 'http\r\nX: y')],
  ['an authority with CR LF', instead(':authority', 'x\r\nX: y')],
  [
    'CONNECT with a path',
    [
      [':method', 'CONNECT'],
      [':authority', 'x:25'],
      [':path', '/'],
      [':scheme', 'http'],
    ],
  ],
  ['a protocol without CONNECT', [...plain, [':protocol', 'websocket']]],
  ['connection', [...plain, ['connection', 'close']]],
  ['keep-alive', [...plain, ['keep-alive', '1']]],
  ['proxy-connection', [...plain, ['proxy-connection', 'close']]],
  ['upgrade', [...plain, ['upgrade', 'h2c']]],
  ['transfer-encoding', [...plain, ['transfer-encoding', 'chunked']]],
  ['transfer-encoding: identity', [...plain, ['transfer-encoding', 'identity']]],
  ['Transfer-Encoding in capitals', [...plain, ['Transfer-Encoding', 'chunked']]],
  ['transfer-encoding with a blank behind', [...plain, ['transfer-encoding ', 'chunked']]],
  ['transfer-encoding with a blank before', [...plain, [' transfer-encoding', 'chunked']]],
  ['transfer-encoding with a tab behind', [...plain, ['transfer-encoding\t', 'chunked']]],
  ['transfer-encoding with NUL behind', [...plain, ['transfer-encoding\0', 'chunked']]],
  ['transfer-encoding and a colon', [...plain, ['transfer-encoding: chunked\r\na', 'b']]],
  ['te: gzip', [...plain, ['te', 'gzip']]],
  ['te: trailers, gzip', [...plain, ['te', 'trailers, gzip']]],
  ['a name in capitals', [...plain, ['X-Foo', 'a']]],
  ['one capital in a name', [...plain, ['x-fOo', 'a']]],
  ['an empty name', [...plain, ['', 'a']]],
  ['a name with a colon', [...plain, ['a:b', 'c']]],
  ['a name with a blank', [...plain, ['a b', 'c']]],
  ['a name with CR LF', [...plain, ['a\r\nb', 'c']]],
  ['a name with LF', [...plain, ['a\nb', 'c']]],
  ['a name beyond ASCII', [...plain, ['\xe9', 'c']]],
  ['a value with CR', [...plain, ['a', 'b\rc']]],
  ['a value with LF', [...plain, ['a', 'b\nc']]],
  ['a value with CR LF', [...plain, ['a', 'b\r\nTransfer-Encoding: chunked']]],
  ['a value with NUL', [...plain, ['a', 'b\0c']]],
  ['a value that begins with a blank', [...plain, ['a', ' b']]],
  ['a value that ends with a blank', [...plain, ['a', 'b ']]],
  ['a value that ends with a tab', [...plain, ['a', 'b\t']]],
  ['a value with DEL', [...plain, ['a', 'b\x7f']]],
  ['a cookie with LF', [...plain, ['cookie', 'a=b\nc']]],
  ['a host with CR LF', [...plain, ['host', 'x\r\ny: z']]],
  ['a length of +5', [...plain, ['content-length', '+5']]],
  ['a length of 0x5', [...plain, ['content-length', '0x5']]],
  ['a length of -1', [...plain, ['content-length', '-1']]],
  ['an empty length', [...plain, ['content-length', '']]],
  ['a length of 5,5', [...plain, ['content-length', '5,5']]],
  ['two lengths', [...plain, ['content-length', '0'], ['content-length', '0']]],
  ['a length that does not come', [...plain, ['content-length', '5']]],
  ['a length beyond all numbers', [...plain, ['content-length', '99999999999999999999']]],
];

describe('a malformed request', () => {
  for (const [what, fields] of cases) {
    it(`with ${what} is refused before anybody sees it`, () => {
      const bed = new SessionBed();
      bed.arrive(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, block(...fields))]));
      expect(bed.heard).to.deep.equal([]);
      expect(bed.said().slice(3)).to.deep.equal(['RST_STREAM 1 protocol']);
      bed.arrive(frame('HEADERS', WHOLE, 3, request()));
      expect(bed.heard).to.deep.equal(['3 GET /', '3 end']);
    });
  }

  it('is told by its trailers too', () => {
    for (const fields of [[[':path', '/']], [['A', 'b']], [['a', 'b\n']], [['connection', 'x']]] as Field[][]) {
      const bed = new SessionBed();
      bed.arrive(Buffer.concat([greeting, frame('HEADERS', 4, 1, block(...plain))]));
      bed.arrive(frame('HEADERS', WHOLE, 1, block(...fields)));
      expect(bed.heard).to.deep.equal(['1 GET /', '1 reset protocol']);
    }
  });
});

describe('a head', () => {
  const head = (...fields: readonly Field[]) => {
    const bed = new SessionBed();
    bed.answers = false;
    bed.arrive(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, block(...fields))]));
    const { fields: read } = bed.stream(1);
    return { read, lines: Array.from({ length: read.count }, (_, i) => [read.name(i), read.value(i)]) };
  };

  it('has its cookies joined, and its authority as host', () => {
    const { lines } = head(...plain, ['cookie', 'a=b'], ['accept', '*/*'], ['cookie', 'c=d'], ['cookie', 'e']);
    expect(lines).to.deep.equal([
      ['host', 'x'],
      ['accept', '*/*'],
      ['cookie', 'a=b; c=d; e'],
    ]);
  });

  it('has one host, and says when two were named', () => {
    expect(head(...plain, ['host', 'X']).lines).to.deep.equal([['host', 'x']]);
    expect(head(...plain, ['host', 'X']).read.hostConflict).to.equal(false);
    expect(head(...plain, ['host', 'y']).read.hostConflict).to.equal(true);
    expect(head(...without(':authority'), ['host', 'y']).read.authority).to.equal('y');
    expect(head(...without(':authority'), ['host', 'y'], ['host', 'z']).read.hostConflict).to.equal(true);
  });

  it('may be CONNECT, with and without a protocol', () => {
    expect(head([':method', 'CONNECT'], [':authority', 'x:25']).read.method).to.equal('CONNECT');
    const { read } = head([':method', 'CONNECT'], [':protocol', 'websocket'], ...plain.slice(1));
    expect(read.protocol).to.equal('websocket');
  });
});
