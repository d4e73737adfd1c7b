// `options.lenient` of a destination: each form is accepted where it is named and nowhere else, and what was accepted has
// the form of RFC 9112 from there on.
import { expect } from 'chai';
import { type LenientForm, lenientForms } from '../../../../src/model/destination-options.ts';
import { readResponses } from '../../../support/http1-reader.ts';
import { mutated, seededRandom } from '../../../support/mutation.ts';
import { refusedResponses } from '../../../support/refused-responses.ts';

const head = 'HTTP/1.1 200 OK\r\n';
const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
const length = 'Content-Length: 2';

/** Bytes that come, and the same in the form of RFC 9112. */
const accepted: Readonly<Record<LenientForm, readonly (readonly [string, string])[]>> = {
  bareLf: [
    ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', `${head}${length}\r\n\r\nok`],
    [`${head}X: a\nY: b\r\n${length}\r\n\nok`, `${head}X: a\r\nY: b\r\n${length}\r\n\r\nok`],
    [`${head}Transfer-Encoding: chunked\n\r\n2\nok\n0\nX: y\n\n`, `${chunked}2\r\nok\r\n0\r\nX: y\r\n\r\n`],
    [`${chunked}2;a="b"\nok\r\n0\n\n`, `${chunked}2\r\nok\r\n0\r\n\r\n`],
  ],
  duplicateContentLength: [
    [`${head}${length}\r\n${length}\r\n\r\nok`, `${head}${length}\r\n\r\nok`],
    [`${head}${length}\r\nX: y\r\ncontent-length:2 \r\n\r\nok`, `${head}${length}\r\nX: y\r\n\r\nok`],
    [`${head}Content-Length: 2, 2\r\n${length}\r\n\r\nok`, `${head}${length}\r\n\r\nok`],
    [`${head}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`, `${head}Content-Length: 0\r\n\r\n`],
  ],
  spaceBeforeColon: [
    [`${head}Content-Length : 2\r\n\r\nok`, `${head}${length}\r\n\r\nok`],
    [`${head}X \t:y\r\n${length}\r\n\r\nok`, `${head}X: y\r\n${length}\r\n\r\nok`],
    [
      `${head}Transfer-Encoding : chunked\r\n\r\n2\r\nok\r\n0\r\nX : y\r\n\r\n`,
      `${chunked}2\r\nok\r\n0\r\nX: y\r\n\r\n`,
    ],
  ],
  paddedChunkSize: [
    [`${chunked}2   \r\nok\r\n0 \t\r\n\r\n`, `${chunked}2\r\nok\r\n0\r\n\r\n`],
    [`${chunked}2;a=b \r\nok\r\n0\r\n\r\n`, `${chunked}2\r\nok\r\n0\r\n\r\n`],
  ],
  controlBytes: [
    [`${head}X: a\x07b\0c\x7f\r\n${length}\r\n\r\nok`, `${head}X: a b c\r\n${length}\r\n\r\nok`],
    [`${head}X:\x1b\x01\r\n${length}\r\n\r\nok`, `${head}X:\r\n${length}\r\n\r\nok`],
    [`${chunked}2\r\nok\r\n0\r\nX: \x01y\r\n\r\n`, `${chunked}2\r\nok\r\n0\r\nX: y\r\n\r\n`],
  ],
};

const refused: Readonly<Record<LenientForm, readonly string[]>> = {
  bareLf: [`${head}X: a\rY: b\r\n${length}\r\n\r\nok`, `${head}X: a\r\r\n${length}\r\n\r\nok`, `${head}X: a\n b\n\n`],
  duplicateContentLength: [
    `${head}${length}\r\nContent-Length: 3\r\n\r\nok`,
    `${head}${length}\r\nContent-Length: 02\r\n\r\nok`,
    `${head}Content-Length: 2, 3\r\n\r\nok`,
    `${head}Content-Length: \r\nContent-Length: \r\n\r\nok`,
    `${head}${length}\r\n${length}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    `${chunked}2\r\nok\r\n0\r\n${length}\r\n\r\n`,
  ],
  spaceBeforeColon: [
    `${head} X: y\r\n\r\n`,
    `${head}X y: z\r\n\r\n`,
    `${head} : y\r\n\r\n`,
    `${head}X: a\r\n : b\r\n\r\n`,
  ],
  paddedChunkSize: [
    `${chunked} 2\r\nok\r\n0\r\n\r\n`,
    `${chunked}2 0\r\nok\r\n0\r\n\r\n`,
    `${chunked}2 \nok\r\n0\r\n\r\n`,
  ],
  controlBytes: [
    `${head}X: a\rb\r\n${length}\r\n\r\nok`,
    `${head}X\x07: a\r\n${length}\r\n\r\nok`,
    `HTTP/1.1 200 O\x07K\r\n${length}\r\n\r\nok`,
    `${head}Transfer-Encoding: \x0bchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`,
    `${head}Content-Length: 2\x01\r\n\r\nok`,
  ],
};

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
const read = (text: string, forms: readonly LenientForm[], cuts: readonly number[] = []) =>
  readResponses(bytesOf(text), cuts, false, forms);
const isGood = (end: string): boolean => ['idle', 'more', 'closed'].includes(end);

describe('a lenient response parser', () => {
  for (const form of lenientForms) {
    it(`accepts ${form} where that is named, in the form of RFC 9112, wherever the bytes are cut`, () => {
      const others = lenientForms.filter((other) => other !== form);
      for (const [text, normal] of accepted[form]) {
        const whole = readResponses(bytesOf(normal));
        expect(whole.messages).to.have.length(1);
        expect(read(text, [form]), text).to.deep.equal(whole);
        expect(read(text, lenientForms), text).to.deep.equal(whole);
        for (let at = 1; at < text.length; at++) expect(read(text, [form], [at]), text).to.deep.equal(whole);
        for (const forms of [[], others]) {
          const { messages, end } = read(text, forms);
          expect(messages, text).to.deep.equal([]);
          expect(isGood(end), text).to.equal(false);
        }
      }
    });

    it(`refuses what ${form} is not`, () => {
      for (const text of refused[form]) {
        const { messages, end } = read(text, [form]);
        expect(messages, text).to.deep.equal([]);
        expect(isGood(end), text).to.equal(false);
      }
    });
  }

  it('refuses all else that a strict one refuses', () => {
    const named = ['the same Content-Length twice', 'a list in Content-Length', 'a blank before the colon'];
    const others = refusedResponses.filter(
      ([name]) => ![...named, 'a bare LF', 'a NUL in a value', 'no HTTP at all'].includes(name),
    );
    expect(others.length).to.be.greaterThan(12);
    for (const [name, text] of others) {
      const { messages, end } = read(text, lenientForms);
      expect(messages, name).to.deep.equal([]);
      expect(isGood(end), name).to.equal(false);
    }
  });

  it('knows what is no HTTP by its first line', () => {
    expect(read('SSH-2.0-OpenSSH_9.2\r\n', lenientForms).end).to.equal('invalid protocol');
  });

  it('bounds the head as a strict one does', () => {
    expect(read(`HTTP/1.1 200 ${'a'.repeat(70_000)}`, lenientForms).end).to.equal('line-too-long');
    expect(read(`${head}X: ${'a'.repeat(1_100_000)}`, lenientForms).end).to.equal('head-too-large');
    expect(read(`${head}${'X: y\n'.repeat(200)}\n`, lenientForms).end).to.equal('head-too-large');
  });

  it('accepts what a strict one accepts, and reads the same, over mutated streams', () => {
    const random = seededRandom(11);
    const streams = lenientForms.flatMap((form) => accepted[form].flatMap((pair) => pair.map(bytesOf)));
    let compared = 0;
    for (let run = 0; run < 5_000; run++) {
      const bytes = mutated(streams, random);
      const { messages } = readResponses(bytes);
      if (messages.length === 0) continue;
      const lenient = readResponses(bytes, [], false, lenientForms).messages.slice(0, messages.length);
      expect(lenient, JSON.stringify(bytes.toString('latin1'))).to.deep.equal(messages);
      compared++;
    }
    expect(compared).to.be.greaterThan(300);
  });
});
