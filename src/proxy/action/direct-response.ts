// A fixed response (contract.md §7.8), settled when the table is compiled.
import type { DirectResponse } from '../../model/direct-response.ts';
import type { Action, ActionExchange } from '../exchange/entry.ts';
import type { LocalReply } from '../exchange/phase.ts';

export interface DirectAnswer {
  readonly status: number;
  readonly body: string;
  /** Used unless a middleware sets one; undefined when there is no body. */
  readonly contentType: string | undefined;
}

export class DirectResponseAction implements Action {
  readonly kind = 'directResponse';
  readonly answer: DirectAnswer;
  readonly #reply: LocalReply;

  constructor(answer: DirectAnswer) {
    const { status, contentType, body } = answer;
    this.answer = answer;
    const fields = contentType === undefined ? [] : ['Content-Type', contentType];
    this.#reply = { status, fields, body: Buffer.from(body, 'utf8') };
  }

  begin(exchange: ActionExchange): void {
    exchange.reply(this.#reply);
  }

  /** Answers with these fields, names and values in turn, besides its own. */
  replyWith(exchange: ActionExchange, fields: readonly string[]): void {
    exchange.reply(fields.length === 0 ? this.#reply : { ...this.#reply, fields: [...this.#reply.fields, ...fields] });
  }
}

export function compileDirectResponse({ status, body = '' }: DirectResponse): DirectAnswer {
  const bodiless = status === 204 || status === 304 || body === '';
  return bodiless ? { status, body: '', contentType: undefined } : { status, body, contentType: typeOf(body) };
}

function typeOf(body: string): string {
  if (isJsonAggregate(body)) return 'application/json';
  return /^\s*</.test(body) ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
}

function isJsonAggregate(body: string): boolean {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
