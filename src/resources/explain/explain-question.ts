// Body of `POST /explain`: the request to explain, and the configuration to explain it with.

import { isIP } from 'node:net';
import { SluiceError } from '../../errors.ts';
import { bodyLengthMax, headerValuesMax, urlLengthMax } from '../../model/explain-limits.ts';
import { parseHost } from '../../model/host-name.ts';
import type { JsonObject } from '../../model/json-object.ts';
import { describe, type Problem, pointerOf } from '../../model/problem.ts';

export interface ExplainQuestion {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly clientIp: string;
  /** `active`, `staged`, or the id of a snapshot. */
  readonly snapshot: string;
  readonly body: string;
  /** Id or name. */
  readonly listener?: string;
  readonly sni?: string;
}

/** Characters of all headers together with their names. */
const headersLengthMax = 256 * 1024;

const fields = new Set(['method', 'url', 'headers', 'clientIp', 'body', 'snapshot', 'listener', 'sni']);

/** Throws INVALID, naming each wrong field. `unknown` gets the pointers of fields that do not exist. */
export function explainQuestion(body: JsonObject, unknown: string[]): ExplainQuestion {
  const problems: Problem[] = [];
  const refuse = (field: string, message: string): undefined =>
    void problems.push({ pointer: pointerOf(field), message });
  // Typed clients send null and empty texts for what they leave out (contract.md §0.2 J4, J5).
  const text = (field: string, otherwise: string): string => {
    const value = body[field] ?? '';
    if (typeof value !== 'string') return refuse(field, 'must be a string') ?? '';
    return value === '' ? otherwise : value;
  };
  for (const field of Object.keys(body)) if (!fields.has(field)) unknown.push(pointerOf(field));
  const [listener, sni] = [text('listener', ''), text('sni', '')];
  const question = {
    method: text('method', 'GET'),
    url: text('url', ''),
    headers: headersOf(body.headers, problems),
    clientIp: text('clientIp', '127.0.0.1'),
    snapshot: text('snapshot', 'active'),
    body: text('body', ''),
    ...(listener !== '' && { listener }),
    ...(sni !== '' && { sni }),
  };
  if (!/^(\/|https?:\/\/[^/?#]+)/i.test(question.url)) refuse('url', 'must be a path such as /a?b=c, or an http URL');
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(question.method)) refuse('method', 'must be a method such as GET');
  if (question.url.length > urlLengthMax) refuse('url', `must have at most ${urlLengthMax} characters`);
  if (question.body.length > bodyLengthMax) refuse('body', `must have at most ${bodyLengthMax} characters`);
  if (sni !== '' && parseHost(sni) === undefined) refuse('sni', 'must be a host name');
  if (isIP(question.clientIp) === 0) refuse('clientIp', 'must be an IP address');
  if (problems.length > 0) throw new SluiceError('INVALID', describe(problems));
  return question;
}

function headersOf(value: unknown, problems: Problem[]): ExplainQuestion['headers'] {
  const headers: Record<string, string | readonly string[]> = {};
  if (value === undefined || value === null) return headers;
  if (typeof value !== 'object' || Array.isArray(value)) {
    problems.push({ pointer: '/headers', message: 'must be an object of names and values' });
    return headers;
  }
  let values = 0;
  let length = 0;
  for (const [name, each] of Object.entries(value)) {
    values += Array.isArray(each) ? each.length : 1;
    if (values > headerValuesMax) {
      problems.push({ pointer: '/headers', message: `must have at most ${headerValuesMax} values` });
      return {};
    }
    if (typeof each === 'string' || isTexts(each)) {
      length += [each].flat().reduce((sum, text) => sum + name.length + text.length, 0);
      headers[name] = each;
    } else problems.push({ pointer: pointerOf('headers', name), message: 'must be a string or a list of strings' });
  }
  if (length > headersLengthMax) {
    problems.push({ pointer: '/headers', message: `must have at most ${headersLengthMax} characters together` });
  }
  return headers;
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
