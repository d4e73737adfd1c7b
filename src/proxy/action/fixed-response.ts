// A fixed response (contract.md §7.8), settled when the table is compiled.
import { createHash } from 'node:crypto';
import type { DirectResponse } from '../../model/direct-response.ts';
import type { Action, ActionExchange } from '../exchange/entry.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { valueText } from '../fields/field-lines.ts';
import type { ExchangeRequest } from '../message/request.ts';
import { typeOfBody } from './body-type.ts';

export interface DirectAnswer {
  readonly status: number;
  readonly body: string;
  /** Used unless a middleware sets one; undefined when there is no body. */
  readonly contentType: string | undefined;
  /** Further fields, names and values in turn. */
  readonly fields: readonly string[];
  /** Validator of a stored body; undefined: the response has none. */
  readonly etag: string | undefined;
}

export class DirectResponseAction implements Action {
  readonly kind = 'directResponse';
  readonly answer: DirectAnswer;
  readonly #reply: LocalReply;
  readonly #notModified: LocalReply;

  constructor(answer: DirectAnswer) {
    const { status, contentType, body, etag } = answer;
    this.answer = answer;
    const always = [...(etag === undefined ? [] : ['ETag', etag]), ...answer.fields];
    const fields = contentType === undefined ? always : ['Content-Type', contentType, ...always];
    this.#reply = { status, fields, body: Buffer.from(body, 'utf8') };
    this.#notModified = { status: 304, fields: always, body: '' };
  }

  begin(exchange: ActionExchange): void {
    exchange.reply(this.#replyTo(exchange.request));
  }

  /** Answers with these fields, names and values in turn, besides its own. */
  replyWith(exchange: ActionExchange, fields: readonly string[]): void {
    const reply = this.#replyTo(exchange.request);
    exchange.reply(fields.length === 0 ? reply : { ...reply, fields: [...reply.fields, ...fields] });
  }

  /** Chooses 304 for a client that has the body (RFC 9110 §13.1.2). */
  #replyTo(request: ExchangeRequest): LocalReply {
    const { etag } = this.answer;
    if (etag === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) return this.#reply;
    const known = request.header('if-none-match');
    return known !== undefined && names(known, etag) ? this.#notModified : this.#reply;
  }
}

/** Returns whether a value of If-None-Match names the validator; weak ones count (RFC 9110 §8.8.3.2). */
function names(value: string, etag: string): boolean {
  return value.split(',').some((each) => {
    const one = each.trim();
    return one === '*' || one === etag || (one.startsWith('W/') && one.slice(2) === etag);
  });
}

/** Statuses whose responses have no content (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const contentless: ReadonlySet<number> = new Set([204, 205, 304]);

export function compileDirectResponse(response: DirectResponse): DirectAnswer {
  const { status, bodyFrom, contentType, headers = [] } = response;
  const body = bodyFrom?.text ?? response.body ?? '';
  const fields = headers.flatMap(({ key, value }) => [key, valueText(value)]);
  if (contentless.has(status) || body === '')
    return { status, body: '', contentType: undefined, fields, etag: undefined };
  const hasOwnTag = headers.some(({ key }) => key.toLowerCase() === 'etag');
  const isTagged = bodyFrom !== undefined && status === 200 && !hasOwnTag;
  const type = contentType === undefined ? typeOfBody(body) : valueText(contentType);
  return { status, body, contentType: type, fields, etag: isTagged ? etagOf(body) : undefined };
}

const etagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;
