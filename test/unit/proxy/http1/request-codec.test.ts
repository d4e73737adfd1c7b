import { expect } from 'chai';
import { cpuMs, leastCpuMs } from '../../../support/cpu-time.ts';
import { readRequests } from '../../../support/http1-reader.ts';

const read = (text: string) => readRequests(Buffer.from(text, 'latin1'));

describe('the request codec', () => {
  it('reads method, target, fields and body as sent', () => {
    const { messages, end } = read('POST /a?b HTTP/1.1\r\nHost: x\r\nX-A:  b c \t\r\nContent-Length: 3\r\n\r\nabc');
    expect(end).to.equal('idle');
    expect(messages).to.deep.equal([
      { start: 'POST /a?b 1', fields: ['Host: x', 'X-A: b c', 'Content-Length: 3'], body: 'abc', trailers: [] },
    ]);
  });

  it('reads pipelined requests one after the other', () => {
    const { messages } = read('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.0\r\n\r\n');
    expect(messages.map(({ start }) => start)).to.deep.equal(['GET /1 1', 'GET /2 0']);
  });

  it('reads chunks, their extensions and trailers', () => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n';
    const { messages, end } = read(`${head}3;a=b;c="d\\"e"\r\nabc\r\n00B\r\ndefghijklmn\r\n0;x\r\nX-Sum: 1\r\n\r\n`);
    expect(end).to.equal('idle');
    expect(messages[0]).to.include({ body: 'abcdefghijklmn' });
    expect(messages[0]?.trailers).to.deep.equal(['X-Sum: 1']);
  });

  it('reads the absolute and the asterisk form', () => {
    expect(read('GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n').messages).to.have.length(1);
    expect(read('GET http://y/a HTTP/1.1\r\nHost: x\r\n\r\n').messages).to.have.length(1);
    expect(read('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n').messages).to.have.length(1);
  });

  it('lets four empty lines before a request pass', () => {
    const lines = (count: number) => read(`${'\r\n'.repeat(count)}GET / HTTP/1.1\r\nHost: x\r\n\r\n`);
    for (let count = 1; count <= 4; count++) expect(lines(count).messages).to.have.length(1);
    expect(lines(5).end).to.equal('invalid byte before the request');
  });

  it('reads lengths and transfer codings without the whitespace around them', () => {
    const post = (field: string, body: string) => read(`POST / HTTP/1.1\r\nHost: x\r\n${field}\r\n\r\n${body}`);
    for (const value of ['3', ' 3 ', '\t3\t ', '  3', '3\t']) {
      expect(post(`Content-Length:${value}`, 'abc').messages[0]).to.include({ body: 'abc' });
    }
    for (const value of ['chunked', ' chunked ', '\tchunked\t ', '  chunked', 'Chunked\t']) {
      expect(post(`Transfer-Encoding:${value}`, '3\r\nabc\r\n0\r\n\r\n').messages[0]).to.include({ body: 'abc' });
    }
  });

  it('reads a later minor version as HTTP/1.1 and refuses other major versions', () => {
    for (const version of ['1.2', '1.9']) {
      expect(read(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`).messages[0]).to.include({ start: 'GET / 1' });
    }
    for (const version of ['0.9', '2.0', '2.1', '3.0', '9.9']) {
      expect(read(`GET / HTTP/${version}\r\nHost: x\r\n\r\n`).end).to.equal('version');
    }
  });

  it('removes whitespace around the parts of a chunk extension', () => {
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (const extension of [' ;a', '\t ; a', '; a = b', ';a= "b c" ;\td', ' ;a ;b = c']) {
      const { messages } = read(`${head}3${extension}\r\nabc\r\n0${extension}\r\n\r\n`);
      expect(messages[0], extension).to.include({ body: 'abc' });
    }
  });

  it('refuses a Connection that names too much before it costs anything', () => {
    const options = Array.from({ length: 120 }, (_, i) => `x-${i}`).join(',');
    expect(read(`GET / HTTP/1.1\r\nHost: x\r\nConnection: ${options}\r\n\r\n`).messages).to.have.length(1);
    const head = Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\nConnection: ${'a,'.repeat(400_000)}\r\n\r\n`);
    expect(readRequests(head).end).to.equal('too many options in Connection');
    expect(leastCpuMs(() => readRequests(head))).to.be.below(50);
  });

  it('gives the same result for every fragmentation', () => {
    const streams = [
      'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3 ; a = "b"\r\nabc\r\n0\r\nX-T: 1\r\n\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
      'PUT / HTTP/1.1\r\nContent-Length: 4\r\nHost: [::1]:80\r\nConnection: close, x\r\n\r\nabcdGET',
      '\r\nGET / HTTP/1.1\r\nHost: x\r\nBad name: 1\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n',
    ];
    for (const stream of streams) {
      const bytes = Buffer.from(stream, 'latin1');
      const whole = readRequests(bytes);
      for (let i = 1; i < bytes.length; i++) {
        expect(readRequests(bytes, [i]), `${stream} cut at ${i}`).to.deep.equal(whole);
        for (let k = i + 1; k < bytes.length; k += 7) expect(readRequests(bytes, [i, k])).to.deep.equal(whole);
      }
      const everywhere = Array.from(bytes, (_, i) => i);
      expect(readRequests(bytes, everywhere)).to.deep.equal(whole);
    }
  });

  it('reads a long head that comes byte by byte in time that grows with its length only', () => {
    const head = Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(60_000)}\r\n\r\n`);
    const cuts = Array.from({ length: 2_000 }, (_, i) => head.length - 1 - i);
    const read = () => expect(readRequests(head, cuts).messages).to.have.length(1);
    expect(cpuMs(read)).to.be.below(2_000);
  });
});
