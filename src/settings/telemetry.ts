// Section `telemetry` of the settings file (observability.md §3): export of traces.
import { type RecentRequestSettings, readRecentRequests } from './request-log-settings.ts';
import type { Section } from './section.ts';

export interface TelemetrySettings {
  /** Undefined: nothing is traced. */
  readonly traces: TracesSettings | undefined;
  readonly recent: RecentRequestSettings;
}

interface TracesSettings {
  /** Whole URL that spans are posted to, as OTLP over HTTP. */
  readonly endpoint: string;
  /** Names in lower case. Their values are secrets: they go to the collector and nowhere else. */
  readonly headers: Readonly<Record<string, string>>;
  /** Share of recorded traces, 0 to 1, of those that begin here. */
  readonly sampleRatio: number;
  readonly serviceName: string;
}

export function readTelemetry(section: Section | undefined): TelemetrySettings {
  const traces = readTraces(section?.section('traces'));
  const recent = readRecentRequests(section);
  section?.end();
  return { traces, recent };
}

function readTraces(section: Section | undefined): TracesSettings | undefined {
  if (section === undefined) return undefined;
  const endpoint = readEndpoint(section);
  const settings = {
    headers: readHeaders(section.section('headers')),
    sampleRatio: section.number('sampleRatio', { min: 0, max: 1, otherwise: 0.01 }),
    serviceName: section.text('serviceName') ?? 'sluice',
  };
  section.end();
  return endpoint === undefined ? undefined : { endpoint, ...settings };
}

/** Default path of a collector for traces (OTLP specification, OTLP/HTTP Request). */
const usualPath = '/v1/traces';

function readEndpoint(section: Section): string | undefined {
  const text = section.text('endpoint');
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return section.error('endpoint', 'must be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    return section.error('endpoint', 'must not hold a user or a password; set headers.authorization');
  }
  url.hash = '';
  if (url.pathname === '/' && url.search === '') url.pathname = usualPath;
  return url.href;
}

const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that the exporter sets itself. */
const ownNames = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'host', 'connection'],
  '__proto__',
]);

/** Reads the headers; no error quotes a value. */
function readHeaders(section: Section | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of section?.keys() ?? []) {
    const value = section?.text(name);
    const lower = name.toLowerCase();
    if (!fieldName.test(name) || ownNames.has(lower)) section?.error(name, 'is no header that can be added');
    else if (value === undefined) section?.error(name, 'is empty: fill it in or leave it out');
    else if (!fieldValue.test(value)) section?.error(name, 'has a value that cannot stand in a header');
    else headers[lower] = value;
  }
  return headers;
}
