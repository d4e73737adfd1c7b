// Malformed requests (RFC 9113 §8): each of these could turn into another request on its way to an upstream that
// speaks HTTP/1.1, and is refused.
import { expect } from 'chai';
import { block, frame, greeting, request, WHOLE } from '../../../support/http2-frames.ts';
import { SessionBed } from '../../../support/http2-session.ts';
import { type Field, malformedRequests, plain, without } from '../../../support/malformed-requests.ts';

describe('a malformed request', () => {
  for (const [what, fields] of malformedRequests) {
    it(`with ${what} is refused before the host gets it`, () => {
      const bed = new SessionBed();
      bed.arrive(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, block(...fields))]));
      expect(bed.heard).to.deep.equal([]);
      expect(bed.said().slice(3)).to.deep.equal(['RST_STREAM 1 protocol']);
      bed.arrive(frame('HEADERS', WHOLE, 3, request()));
      expect(bed.heard).to.deep.equal(['3 GET /', '3 end']);
    });
  }

  it('is recognized by its trailers too', () => {
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

  it('has its cookies joined where the first one stands, and its authority as host', () => {
    const { lines } = head(...plain, ['cookie', 'a=b'], ['accept', '*/*'], ['cookie', 'c=d'], ['cookie', 'e']);
    expect(lines).to.deep.equal([
      ['host', 'x'],
      ['cookie', 'a=b; c=d; e'],
      ['accept', '*/*'],
    ]);
  });

  it('limits its bytes with the pieces of a cookie and their separators too', () => {
    // `host` and `x`, `cookie`, and two pieces with `; ` between them.
    for (const [length, tooLarge] of [
      [100 - 5 - 6 - 10 - 2, false],
      [100 - 5 - 6 - 10 - 2 + 1, true],
    ] as const) {
      const bed = new SessionBed({ limits: () => ({ fieldBytesMax: 100, linesMax: 9 }) });
      bed.answers = false;
      const fields = block(...plain, ['cookie', 'a'.repeat(10)], ['cookie', 'b'.repeat(length)]);
      bed.arrive(Buffer.concat([greeting, frame('HEADERS', WHOLE, 1, fields)]));
      expect(bed.stream(1).fields.tooLarge).to.equal(tooLarge);
    }
  });

  it('keeps an empty cookie', () => {
    expect(head(...plain, ['cookie', '']).lines).to.deep.include(['cookie', '']);
  });

  it('has one host, and reports when two were named', () => {
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
