// Answers of the guarded node, held to the grammar: HTTP/1.1 by RFC 9112, HTTP/2 by RFC 9113 §8.
import { framesIn } from '../http2-frames.ts';
import { SlowHpack } from '../slow-hpack.ts';
import { fieldOf, isText, type SentField } from './grammar.ts';

export interface Heard {
  /** Final statuses, in their order; over HTTP/2 in the order of their ends. */
  readonly statuses: readonly number[];
  /** Reason why what came is no series of answers. */
  readonly fault?: string;
}

const statusLine = /^HTTP\/1\.[01] ([1-5]\d\d) (.*)$/s;

type Fields = readonly SentField[];

const firstOf = (fields: Fields, name: string): string | undefined => fields.find(([other]) => other === name)?.[1];

/** A permission for any origin is the upstream's, which the node has to take back. */
const faultOfFields = (fields: Fields): string | undefined =>
  firstOf(fields, 'access-control-allow-origin') === '*' ? "the upstream's Access-Control-Allow-Origin" : undefined;

/** Reads what came on one connection. An answer that is cut off at the end is none. `mayBeHead`: some request was HEAD. */
export function readHttp1Answers(text: string, mayBeHead: boolean): Heard {
  const statuses: number[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at);
    if (end < 0) return { statuses };
    const [first = '', ...lines] = text.slice(at, end).split('\r\n');
    const [, digits, reason = ''] = statusLine.exec(first) ?? [];
    if (digits === undefined || !isText(reason))
      return { statuses, fault: `status line ${JSON.stringify(first.slice(0, 200))}` };
    const status = Number(digits);
    const fields = lines.map(fieldOf);
    if (fields.includes(undefined)) return { statuses, fault: `fields ${JSON.stringify(lines)}` };
    const named = fields.map(([name, value] = ['', '']): SentField => [name.toLowerCase(), value]);
    const fault = faultOfFields(named);
    if (fault !== undefined) return { statuses, fault };
    at = end + 4;
    if (status === 101) return { statuses: [...statuses, status] };
    if (status < 200) continue;
    statuses.push(status);
    const next = bodyEnd(text, at, status, named, mayBeHead);
    if (typeof next === 'string') return { statuses, fault: next };
    at = next;
  }
  return { statuses };
}

/** Position behind a body, which may be that of HEAD: none. A text is a fault. */
function bodyEnd(text: string, at: number, status: number, fields: Fields, mayBeHead: boolean): number | string {
  const lengths = fields.filter(([name]) => name === 'content-length').map(([, value]) => value);
  const coding = firstOf(fields, 'transfer-encoding');
  if (lengths.length > 1 || (lengths.length > 0 && coding !== undefined)) return 'framed twice';
  if (status === 204 || status === 304) return at;
  if (mayBeHead && (at === text.length || text.startsWith('HTTP/1.', at))) return at;
  if (coding !== undefined) {
    if (coding !== 'chunked') return `Transfer-Encoding ${coding}`;
    const [whole] = /^(?:[0-9a-f]+\r\n[\s\S]*?\r\n)*?0\r\n\r\n/i.exec(text.slice(at)) ?? [''];
    return at + (whole === '' ? text.length : whole.length);
  }
  const [length] = lengths;
  if (length === undefined) return firstOf(fields, 'connection')?.includes('close') ? text.length : 'without an end';
  return /^\d+$/.test(length) ? Math.min(text.length, at + Number(length)) : `Content-Length ${length}`;
}

const connectionOnly = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection']);

/** Reads frames of a connection over HTTP/2. */
export function readHttp2Answers(bytes: Buffer): Heard {
  const statuses: number[] = [];
  const fault = (reason: string): Heard => ({ statuses, fault: reason });
  const hpack = new SlowHpack(4_096);
  const begun = new Set<number>();
  for (const { type, flags, streamId, payload } of framesIn(bytes)) {
    if (payload.length > 16_384) return fault(`a frame of ${payload.length} bytes`);
    if (type === 'DATA' && !begun.has(streamId)) return fault('DATA before HEADERS');
    if (type === 'PUSH_PROMISE' || type === 'PRIORITY' || /^\d+$/.test(type)) return fault(`a frame of type ${type}`);
    if (type !== 'HEADERS') continue;
    if ((flags & 0x4) === 0) return fault('a block in pieces');
    const fields = hpack.decode(payload);
    if (fields === undefined) return fault(`a block that cannot be read: ${payload.toString('hex')}`);
    const isFirst = !begun.has(streamId);
    const [[name, value] = ['', '']] = fields;
    if (isFirst && !(name === ':status' && /^[1-5]\d\d$/.test(value))) return fault(`first field ${name}`);
    const odd = fields
      .slice(isFirst ? 1 : 0)
      .find(([each]) => /[^!#$%&'*+.^_`|~0-9a-z-]/.test(each) || connectionOnly.has(each));
    if (odd !== undefined) return fault(`field ${JSON.stringify(odd)}`);
    const wrong = faultOfFields(fields);
    if (wrong !== undefined) return fault(wrong);
    if (isFirst && Number(value) < 200) continue;
    if (isFirst) statuses.push(Number(value));
    begun.add(streamId);
  }
  return { statuses };
}
