// Cases of routing: requests and what has to become of them, judged by the compiled table without a server.

import { SluiceError } from '../../errors.ts';
import type { RequestExplanation } from '../../model/answers/explanation.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import { Explainer } from '../../proxy/explain/explainer.ts';
import { documentsOf, type InputDocument } from '../input/document.ts';
import type { Fault, Place } from '../input/fault.ts';
import type { InputFile } from '../input/input-files.ts';
import type { Variables } from '../input/variables.ts';
import { meant } from '../kind-names.ts';

type Fields = Readonly<Record<string, unknown>>;

interface RouteCase {
  readonly name: string;
  readonly request: Fields;
  readonly expect: Fields;
  placeOf(path: readonly string[]): Place;
}

export interface CaseResult {
  readonly name: string;
  readonly place: Place;
  /** Lines about what differs; empty when the case holds. */
  readonly differences: readonly string[];
}

const requestFields = ['method', 'url', 'headers', 'clientIp', 'listener', 'body'];
const expectFields = ['route', 'group', 'destination', 'status', 'location', 'headers', 'upstream'];

/** Reads `cases: [{name, request, expect}]`. */
export function readCases(file: InputFile, variables: Variables, faults: Fault[]): RouteCase[] {
  const documents = documentsOf(file, variables, (place, message) =>
    faults.push({ place, subject: '', pointer: '', message }),
  );
  return documents.flatMap((document) => casesIn(document, faults));
}

function casesIn(document: InputDocument, faults: Fault[]): RouteCase[] {
  const refuse = (path: readonly string[], message: string) => {
    faults.push({ place: document.placeOf(path), subject: '', pointer: `/${path.join('/')}`, message });
  };
  const list = isFields(document.value) ? document.value.cases : undefined;
  if (!Array.isArray(list)) {
    refuse(['cases'], 'must be a list of cases');
    return [];
  }
  return list.flatMap((each: unknown, at): RouteCase[] => {
    const path = ['cases', String(at)];
    if (!isFields(each)) {
      refuse(path, 'must be a map with name, request and expect');
      return [];
    }
    const { name = `case ${at + 1}`, request, expect } = each;
    const sound = [
      known(each, ['name', 'request', 'expect'], path, refuse),
      isFields(request)
        ? known(request, requestFields, [...path, 'request'], refuse)
        : refuse([...path, 'request'], 'must be a map'),
      isFields(expect)
        ? known(expect, expectFields, [...path, 'expect'], refuse)
        : refuse([...path, 'expect'], 'must be a map'),
      !isFields(request) ||
        typeof request.url === 'string' ||
        refuse([...path, 'request', 'url'], 'must be a path or an http URL'),
    ];
    if (sound.some((each) => each !== true)) return [];
    return [
      {
        name: String(name),
        request: request as Fields,
        expect: expect as Fields,
        placeOf: (below) => document.placeOf([...path, ...below]),
      },
    ];
  });
}

function known(
  fields: Fields,
  names: readonly string[],
  path: readonly string[],
  refuse: (path: readonly string[], message: string) => void,
): boolean {
  const unknown = Object.keys(fields).find((key) => !names.includes(key));
  if (unknown !== undefined) refuse([...path, unknown], `is not a known field${meant(unknown, names)}`);
  return unknown === undefined;
}

/** Judges each case; one that cannot be asked fails. */
export async function runCases(cases: readonly RouteCase[], configuration: Configuration): Promise<CaseResult[]> {
  const explainer = new Explainer();
  const results: CaseResult[] = [];
  for (const each of cases) {
    const { method = 'GET', url, headers = {}, clientIp = '127.0.0.1', listener, body = '' } = each.request;
    const question = {
      method: String(method),
      url: String(url),
      headers: textsOf(headers),
      clientIp: String(clientIp),
      body: String(body),
      ...(listener !== undefined && { listener: idOf(configuration.listeners, String(listener)) }),
    };
    try {
      const explanation = await explainer.explain('cases', () => configuration, question);
      results.push(resultOf(each, explanation, configuration));
    } catch (error) {
      // A listener that is not there, for instance.
      if (!(error instanceof SluiceError)) throw error;
      results.push({ name: each.name, place: each.placeOf(['request']), differences: [error.message] });
    }
  }
  return results;
}

const idOf = (entities: readonly { readonly id: string; readonly name: string }[], text: string): string =>
  (entities.find(({ id }) => id === text) ?? entities.find(({ name }) => name === text))?.id ?? text;

const textsOf = (headers: unknown): Readonly<Record<string, string | readonly string[]>> =>
  isFields(headers)
    ? Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.map(String) : String(value),
        ]),
      )
    : {};

function resultOf(
  { name, expect, placeOf }: RouteCase,
  explanation: RequestExplanation,
  configuration: Configuration,
): CaseResult {
  const found = foundIn(explanation, configuration);
  const differences = Object.entries(expect).flatMap(([field, wanted]) => differencesIn(field, wanted, found));
  const first = Object.keys(expect).find((field) => differencesIn(field, expect[field], found).length > 0);
  return { name, place: placeOf(first === undefined ? [] : ['expect', first]), differences };
}

interface Found {
  readonly texts: Readonly<Record<string, readonly (string | number | null)[]>>;
  readonly headers: Readonly<Record<string, string | null>>;
  readonly upstream: Readonly<Record<string, string>>;
}

/** Outcome of the request: all texts that a field may be expected to be. */
function foundIn({ winner, middlewares, outcome, choice }: RequestExplanation, configuration: Configuration): Found {
  const named = (each: { readonly id: string; readonly name: string } | undefined) =>
    each === undefined ? [null] : [each.name, each.id];
  const forwarded = outcome.action === 'forward' ? outcome : undefined;
  const settled = choice?.destination ?? undefined;
  const open = (choice?.destinations ?? []).filter(({ weight }) => weight > 0 || choice?.destinations.length === 1);
  const ids =
    forwarded === undefined
      ? []
      : settled === undefined
        ? open.flatMap((each) => ('id' in each ? [each.id] : []))
        : [settled];
  const destinations = ids.flatMap((id) => [id, configuration.destinations.find((each) => each.id === id)?.name ?? id]);
  const headers: Record<string, string | null> = {};
  for (const { effect } of middlewares)
    for (const change of effect?.kind === 'passes' ? (effect.changes ?? []) : [])
      headers[change.name.toLowerCase()] = change.value;
  return {
    texts: {
      route: named(winner?.route),
      group: named(winner?.group),
      destination: destinations.length === 0 ? [null] : destinations,
      status: ['status' in outcome ? outcome.status : null],
      location: ['location' in outcome ? outcome.location : null],
    },
    headers,
    upstream: forwarded === undefined ? {} : { host: forwarded.upstream.host, target: forwarded.upstream.target },
  };
}

function differencesIn(field: string, wanted: unknown, { texts, headers, upstream }: Found): string[] {
  if (field === 'headers' || field === 'upstream') {
    const have: Readonly<Record<string, string | null>> = field === 'headers' ? headers : upstream;
    return Object.entries(isFields(wanted) ? wanted : {}).flatMap(([name, value]) => {
      const found = have[field === 'headers' ? name.toLowerCase() : name] ?? null;
      return found === value ? [] : [`${field} ${name} is ${JSON.stringify(found)}, expected ${JSON.stringify(value)}`];
    });
  }
  const all = texts[field] ?? [];
  if (all.some((each) => each === wanted)) return [];
  return [`${field} is ${JSON.stringify(all[0] ?? null)}, expected ${JSON.stringify(wanted)}`];
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
