// Header values with placeholders about the request (contract.md §8.0): `headers` values and what an authorization
// service is sent. Values are byte strings, as they travel.
import type { ConsumerFacts } from '../../expression/cel/value-view.ts';
import { fieldText, sendableText } from '../fields/field-lines.ts';
import { compileTemplate, type Template, type Variable } from './template.ts';

/** Parts of a request that placeholders can read. */
export interface TemplateRequest {
  readonly id: string;
  readonly method: string;
  /** Canonical, before any rewrite, without the query. */
  readonly path: string;
  /** Without port. */
  readonly host: string;
  /** As the client sent it. */
  readonly authority: string;
  readonly scheme: string;
  /** Address of the client, trusted proxies left out (architecture.md §6.9). */
  readonly clientIp: string;
  /** Consumer that a middleware has found. */
  readonly consumer?: ConsumerFacts | undefined;
  /** Values of all lines of that lower-case name as one. */
  header(lowerName: string): string | undefined;
}

export type RequestTemplate = Template<TemplateRequest>;

export const compileRequestTemplate = (text: string): RequestTemplate =>
  compileTemplate(text, requestVariable, fieldText);

/** Template of a text that is sent as it is written, `${…}` too. */
export const plainText = (text: string): RequestTemplate => compileTemplate(text, () => undefined, fieldText);

/** `request.host` and so on, `request.header.NAME`, `consumer.labels.NAME`; undefined for anything else. */
function requestVariable(name: string): Variable<TemplateRequest> | undefined {
  if (name.startsWith(labelPrefix)) {
    const label = name.slice(labelPrefix.length);
    return ({ consumer }) => sendableText(consumer?.labels.get(label) ?? '');
  }
  if (!name.startsWith(headerPrefix)) return variables.get(name);
  const header = name.slice(headerPrefix.length).toLowerCase();
  return header === '' ? undefined : (request) => request.header(header) ?? '';
}

const headerPrefix = 'request.header.';
const labelPrefix = 'consumer.labels.';

const variables: ReadonlyMap<string, Variable<TemplateRequest>> = new Map([
  ['request.id', (request: TemplateRequest) => request.id],
  ['request.host', (request: TemplateRequest) => request.host],
  ['request.authority', (request: TemplateRequest) => request.authority],
  ['request.path', (request: TemplateRequest) => request.path],
  ['request.method', (request: TemplateRequest) => request.method],
  ['request.scheme', (request: TemplateRequest) => request.scheme],
  ['request.clientIp', (request: TemplateRequest) => request.clientIp],
  ['consumer.id', ({ consumer }: TemplateRequest) => consumer?.id ?? ''],
  ['consumer.name', ({ consumer }: TemplateRequest) => sendableText(consumer?.name ?? '')],
]);
