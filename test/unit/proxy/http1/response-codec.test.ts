import { expect } from 'chai';
import { readResponses } from '../../../support/http1-reader.ts';
import { refusedResponses } from '../../../support/refused-responses.ts';

const read = (text: string, toHead = false) => readResponses(Buffer.from(text, 'latin1'), [], toHead);

describe('the response codec', () => {
  it('reads status, reason, fields and body as sent', () => {
    const { messages, end } = read('HTTP/1.1 201 Made It\r\nContent-Length: 2\r\nX: y\r\n\r\nok');
    expect(end).to.equal('idle');
    expect(messages).to.deep.equal([
      { start: '201 1 Made It', fields: ['Content-Length: 2', 'X: y'], body: 'ok', trailers: [] },
    ]);
  });

  it('reads a body that lasts until the connection ends', () => {
    expect(read('HTTP/1.0 200 OK\r\n\r\nall of it').messages[0]?.body).to.equal('all of it');
  });

  it('reads interim responses before the final one', () => {
    const { messages } = read('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(messages.map(({ start }) => start)).to.deep.equal(['103 1 Early Hints', '200 1 OK']);
  });

  it('reads lengths and transfer codings without the whitespace around them', () => {
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: \t2 \r\n\r\nok').messages[0]?.body).to.equal('ok');
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding:  chunked\t\r\n\r\n2 ;a\r\nok\r\n0\r\n\r\n';
    expect(read(chunked).messages[0]?.body).to.equal('ok');
  });

  it('reads a later minor version as HTTP/1.1', () => {
    expect(read('HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n').messages[0]?.start).to.equal('200 1 OK');
  });

  it('reads no body after HEAD, 204 and 304', () => {
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n', true).end).to.equal('idle');
    expect(read('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n').end).to.equal('idle');
    expect(read('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n').end).to.equal('closed');
  });

  it('reads an empty reason, with and without its blank', () => {
    expect(read('HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n').messages).to.have.length(1);
    expect(read('HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n').messages).to.have.length(1);
  });

  it('does not accept a body that was cut short', () => {
    expect(read('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel')).to.deep.equal({ messages: [], end: 'more' });
  });

  it('gives the same result for every fragmentation', () => {
    const bytes = Buffer.from(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nX: 1\r\n\r\nHTTP/1.1 2x',
    );
    const whole = readResponses(bytes);
    for (let i = 1; i < bytes.length; i++) expect(readResponses(bytes, [i]), `cut at ${i}`).to.deep.equal(whole);
  });

  for (const [name, text] of refusedResponses) {
    it(`refuses ${name}`, () => {
      const { messages, end } = read(text);
      expect(end).not.to.be.oneOf(['idle', 'more', 'closed']);
      expect(messages).to.deep.equal([]);
    });
  }
});
