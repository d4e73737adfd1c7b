// A parser that has read a head before reads the next one as a new parser does, whether its fields are the same or not.
import { expect } from 'chai';
import { Head } from '../../../../src/proxy/http1/head.ts';
import type { HeadLimits, HeadStatus } from '../../../../src/proxy/http1/head-parser.ts';
import { RequestParser } from '../../../../src/proxy/http1/request-parser.ts';
import { keptFromClient, keptFromTrusted, renderTrailers } from '../../../../src/proxy/http1/serialize-head.ts';
import { sharedReadBuffer } from '../../../../src/proxy/socket/byte-socket.ts';
import { mutated, seededRandom } from '../../../support/mutation.ts';

const limits = { startLineBytesMax: 1_000, headBytesMax: 2_000, fieldBytesMax: 300, linesMax: 10 };

/** All that others can see of a head. */
function seen(parser: RequestParser, status: HeadStatus, from: number): object {
  if (status !== 'done') return { status, problem: parser.problem };
  const { head, method, target, minor, end } = parser;
  const { count, fieldBytes, padded, text } = head;
  const lines = Array.from({ length: count }, (_, i) => [
    ...[head.name(i), head.value(i), head.id(i), head.lineStart(i)],
    head.first(head.name(i).toLowerCase()),
  ]);
  return { method, target, minor, length: end - from, count, fieldBytes, padded, text, lines, sent: sent(head) };
}

const sent = (head: Head): string[] => [
  renderTrailers(head, []),
  renderTrailers(head, ['b']),
  renderTrailers(head, []),
];

function read(parser: RequestParser, bytes: Buffer, from: number, of: HeadLimits, to = bytes.length): object {
  parser.limits = of;
  parser.reset();
  return seen(parser, parser.parse(bytes, from, to), from);
}

const fields = [
  '\r\n',
  'Host: x\r\n\r\n',
  'Host: x\r\nB: 1\r\nConnection: keep-alive\r\n\r\n',
  'Host: x\r\nB: 2\r\nConnection: keep-alive\r\n\r\n',
  'Host: x\r\nB:  2 \r\nX-Forwarded-For: 1.2.3.4\r\nContent-Length: 3\r\n\r\n',
  `Host: x\r\nB: ${'v'.repeat(200)}\r\n\r\n`,
];
const starts = ['GET / HTTP/1.1\r\n', 'GET /longer?q=1 HTTP/1.1\r\n', 'POST /a HTTP/1.0\r\n', '\r\nGET / HTTP/1.1\r\n'];

describe('a head after another', () => {
  it('is read as by a new parser, in any order of heads', () => {
    const random = seededRandom(7);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const parser = new RequestParser(limits);
    let repeated = 0;
    let wholeRepeated = 0;
    let before = '';
    for (let run = 0; run < 3_000; run++) {
      const own = pick(fields);
      if (own === before) repeated++;
      before = own;
      const start = random() < 0.5 ? (starts[0] ?? '') : pick(starts);
      const whole = Buffer.from(start + own + pick(['', 'abc', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n']), 'latin1');
      const bytes = random() < 0.3 ? mutated([whole], random) : whole;
      const from = random() < 0.2 ? Math.min(2, bytes.length) : 0;
      const of =
        random() < 0.1 ? { ...limits, ...pick([{ linesMax: 1 }, { headBytesMax: 60 }, { fieldBytesMax: 9 }]) } : limits;
      // As most come, and as those that were held back.
      const isFresh = random() < 0.7;
      if (isFresh) bytes.copy(sharedReadBuffer);
      const seen = isFresh ? read(parser, sharedReadBuffer, from, of, bytes.length) : read(parser, bytes, from, of);
      expect(seen, JSON.stringify(bytes.toString('latin1'))).to.deep.equal(
        read(new RequestParser(of), bytes, from, of),
      );
      if (parser.repeats) wholeRepeated++;
    }
    expect(repeated).to.be.greaterThan(300);
    expect(wholeRepeated).to.be.greaterThan(50);
  });

  it('is another one with any of its bytes changed', () => {
    for (const start of starts) {
      const bytes = Buffer.from(`${start}${fields[3]}`, 'latin1');
      for (let at = 0; at < bytes.length; at++) {
        const parser = new RequestParser(limits);
        bytes.copy(sharedReadBuffer);
        for (let turn = 0; turn < 3; turn++) read(parser, sharedReadBuffer, 0, limits, bytes.length);
        expect(parser.repeats).to.equal(true);
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        changed.copy(sharedReadBuffer);
        const now = read(parser, sharedReadBuffer, 0, limits, bytes.length);
        expect(now, `byte ${at}`).to.deep.equal(read(new RequestParser(limits), changed, 0, limits));
        expect(parser.repeats).to.equal(false);
      }
    }
  });

  it('is the same after arriving in parts', () => {
    const parser = new RequestParser(limits);
    const bytes = Buffer.from(`GET /next HTTP/1.1\r\n${fields[2]}`, 'latin1');
    const expected = read(new RequestParser(limits), bytes, 0, limits);
    for (let cut = 1; cut < bytes.length; cut++) {
      read(parser, Buffer.from(`GET / HTTP/1.1\r\n${fields[2]}`, 'latin1'), 0, limits);
      parser.reset();
      expect(parser.parse(bytes, 0, cut)).to.equal('more');
      expect(seen(parser, parser.parse(bytes, 0, bytes.length), 0)).to.deep.equal(expected);
    }
  });

  it('is passed on by the given table, not by the one before', () => {
    const head = new Head();
    head.cacheKept(keptFromClient, 'some');
    expect([head.keptBy(keptFromClient), head.keptBy(keptFromTrusted)]).to.deep.equal(['some', undefined]);
    head.forget();
    expect(head.keptBy(keptFromClient)).to.equal(undefined);
  });
});
