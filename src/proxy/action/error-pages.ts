// Error pages of a listener or a route (contract.md §9.1), settled when they are compiled: a page by status.
import type { ErrorPage } from '../../model/error-page.ts';
import type { ErrorPages } from '../exchange/entry.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { readableText, valueText } from '../fields/field-lines.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import { compileTemplate, type Template, type Variable } from '../middleware/template.ts';
import { typeOfBody } from './body-type.ts';

interface Failure {
  readonly status: number;
  readonly error: string;
  readonly request: RoutedRequest;
}

interface Page {
  readonly fields: readonly string[];
  readonly body: Template<Failure>;
  /** Bytes of a body without placeholders. */
  readonly bytes: Buffer | undefined;
  readonly coversUpstream: boolean;
}

/** Undefined where there are none: who has no error pages does not pay. */
export function compileErrorPages(pages: readonly ErrorPage[] | undefined): ErrorPages | undefined {
  if (pages === undefined || pages.length === 0) return undefined;
  const all = new Map<number, Page>();
  const upstream = new Map<number, Page>();
  for (const source of pages) {
    const page = compilePage(source);
    for (const status of source.statuses.flatMap(statusesIn)) {
      if (!all.has(status)) all.set(status, page);
      if (page.coversUpstream && !upstream.has(status)) upstream.set(status, page);
    }
  }
  return {
    pageOf: (status, error, request) => filled(all.get(status), { status, error, request }),
    pageOver: (status, request) => filled(upstream.get(status), { status, error: '', request }),
  };
}

function filled(page: Page | undefined, failure: Failure): LocalReply | undefined {
  if (page === undefined) return undefined;
  return { status: failure.status, fields: page.fields, body: page.bytes ?? page.body.fill(failure) };
}

function compilePage({ bodyFrom, contentType, upstream = false }: ErrorPage): Page {
  const text = bodyFrom.text ?? '';
  const type = contentType ?? typeOfBody(text);
  const escaped = escapeFor(type.toLowerCase());
  const body = compileTemplate(text, (name) => variable(name, escaped));
  const bytes = body.constant === undefined ? undefined : Buffer.from(body.constant, 'utf8');
  return { fields: ['Content-Type', valueText(type)], body, bytes, coversUpstream: upstream };
}

function statusesIn(range: string): number[] {
  const [low = 0, high = low] = range.split('-').map(Number);
  return Array.from({ length: high - low + 1 }, (_, at) => low + at);
}

type Escape = (text: string) => string;

function variable(name: string, escaped: Escape): Variable<Failure> | undefined {
  const read = variables.get(name);
  return read && ((failure) => escaped(read(failure)));
}

/** Values of clients are byte strings, as they travel. */
const variables: ReadonlyMap<string, Variable<Failure>> = new Map([
  ['status', ({ status }: Failure) => String(status)],
  ['error', ({ error }: Failure) => error],
  ['request.host', ({ request }: Failure) => readableText(request.host)],
  // The length of a response to HEAD is that of the one to GET (RFC 9110 §8.6).
  ['request.method', ({ request }: Failure) => (request.method === 'HEAD' ? 'GET' : readableText(request.method))],
  ['request.path', ({ request }: Failure) => readableText(request.path)],
]);

/** Units of UTF-16 that may mean something in a script or a style. */
const notPlain = /[^A-Za-z0-9 ._/-]/g;

const hexOf = (unit: string, digits: number): string => unit.charCodeAt(0).toString(16).padStart(digits, '0');

function escapeFor(type: string): Escape {
  if (/html|xml/.test(type)) return (text) => text.replace(/[&<>"'`]/g, (each) => `&#${each.charCodeAt(0)};`);
  if (type.includes('json')) return (text) => JSON.stringify(text).slice(1, -1);
  if (/(java|ecma)script/.test(type)) return (text) => text.replace(notPlain, (each) => `\\u${hexOf(each, 4)}`);
  if (type.includes('css')) return (text) => text.replace(notPlain, (each) => `\\${hexOf(each, 6)}`);
  return (text) => text;
}
