// A fixed response (contract.md §7.8), settled when the table is compiled.
import type { DirectResponse } from '../../model/route.ts';

export interface DirectAnswer {
  readonly status: number;
  readonly body: string;
  /** Used unless a middleware sets one; undefined when there is no body. */
  readonly contentType: string | undefined;
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
