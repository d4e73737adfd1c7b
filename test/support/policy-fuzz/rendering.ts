// Attempts as bytes of HTTP/1.1 and as frames of HTTP/2, damaged now and then.
import { block, END_HEADERS, END_STREAM, frame } from '../http2-frames.ts';
import { mutated } from '../mutation.ts';
import { type Attempt, pick } from './inputs.ts';

type Random = () => number;

const chunkedBody = (random: Random, { body, trailers, pristine }: Attempt): string => {
  const at = Math.floor(random() * body.length);
  const pieces = [body.slice(0, at), body.slice(at)].filter((piece) => piece !== '');
  const size = (length: number): string => {
    const hex = length.toString(16);
    if (pristine || random() < 0.8) return hex;
    return pick(random, [
      `${hex};a=b`,
      `0${hex}`,
      `0x${hex}`,
      `${hex} `,
      ` ${hex}`,
      `+${hex}`,
      `${hex}\n`,
      `${hex};\n`,
      '-1',
      'ffffffffffffffff',
    ]);
  };
  const chunks = pieces.map((piece) => `${size(piece.length)}\r\n${piece}\r\n`).join('');
  return `${chunks}0\r\n${trailers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
};

function textOf(random: Random, attempt: Attempt): string {
  const { method, target, fields, body, chunked, pristine } = attempt;
  const framed = chunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${body.length}\r\n`;
  const hasBody = body !== '' || chunked;
  const odd = (usual: string, ...more: string[]) => (pristine || random() < 0.95 ? usual : pick(random, more));
  const version = odd('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 x', '');
  const eol = odd('\r\n', '\n', '\r', '\r\r\n', '\r\n ');
  const lines = fields.map(([name, value]) => `${name}${odd(': ', ':', ' : ', ':\t', ':\r\n ')}${value}\r\n`).join('');
  const host = odd('Host: shop.test\r\n', '', 'Host: a\r\nHost: b\r\n', 'Host: a b\r\n', 'Host: shop.test/private\r\n');
  const head = `${method}${odd(' ', '\t', '  ')}${target} ${version}${eol}${host}${lines}${hasBody ? framed : ''}\r\n`;
  return head + (chunked ? chunkedBody(random, attempt) : body);
}

/** Bytes of one connection. One in three is damaged beyond its structure. */
export function http1Bytes(random: Random, attempts: readonly Attempt[]): Buffer {
  const texts = attempts.map((attempt) => Buffer.from(textOf(random, attempt), 'latin1'));
  const bytes = Buffer.concat(texts);
  return attempts.some(({ pristine }) => pristine) || random() < 0.66 ? bytes : mutated([bytes, ...texts], random);
}

/** Frames of one request on its stream. */
export function http2Frames(random: Random, attempt: Attempt, streamId: number): Buffer {
  const { method, target, body, trailers, pristine } = attempt;
  const fields = attempt.fields.map(
    ([name, value]) => [pristine || random() < 0.9 ? name.toLowerCase() : name, value] as const,
  );
  const pseudo: (readonly [string, string])[] = [
    [':method', method],
    [':scheme', pristine || random() < 0.95 ? 'http' : pick(random, ['https', 'ftp', '', 'http\r\n'])],
    [
      ':authority',
      pristine || random() < 0.95 ? 'shop.test' : pick(random, ['', 'a b', 'a@b', 'shop.test/private', 'a\r\nx: y']),
    ],
    [':path', target],
  ];
  const all = [...pseudo, ...fields];
  if (!pristine && random() < 0.05) all.reverse();
  if (!pristine && random() < 0.1) all.push(['content-length', pick(random, [String(body.length), '3', '0', '+1'])]);
  const head = block(...all);
  const isLast = body === '' && trailers.length === 0;
  const frames: Buffer[] = [];
  for (let at = 0; at < head.length; at += 16_000) {
    const ends = at + 16_000 >= head.length ? END_HEADERS : 0;
    const type = at === 0 ? 'HEADERS' : 'CONTINUATION';
    frames.push(frame(type, ends | (isLast && at === 0 ? END_STREAM : 0), streamId, head.subarray(at, at + 16_000)));
  }
  if (body !== '')
    frames.push(frame('DATA', trailers.length === 0 ? END_STREAM : 0, streamId, Buffer.from(body, 'latin1')));
  if (trailers.length > 0) frames.push(frame('HEADERS', END_HEADERS | END_STREAM, streamId, block(...trailers)));
  return Buffer.concat(pristine || random() < 0.95 ? frames : frames.map((bytes) => mutated([bytes], random)));
}
