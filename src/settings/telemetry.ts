// Section `telemetry` of the settings file (observability.md §3): export of traces, and the request log.
import { type Key, readKeys, section, type Values } from './key.ts';
import { type RecentRequestSettings, requestLogKeys } from './request-log-settings.ts';
import { number, text } from './scalar-key.ts';
import type { Section } from './section.ts';

export interface TelemetrySettings {
  /** Undefined: nothing is traced. */
  readonly traces: TracesSettings | undefined;
  readonly recent: RecentRequestSettings;
}

/** Default path of a collector for traces (OTLP specification, OTLP/HTTP Request). */
const usualPath = '/v1/traces';

const endpointKey: Key<string | undefined, ''> = {
  type: 'http or https URL',
  meaning:
    'collector that takes spans as OTLP over HTTP (protobuf), in both modes; without a path `/v1/traces` is added. Absent: nothing is ' +
    'traced ([docs/observability.md](observability.md#traces))',
  unit: '',
  read(at, name) {
    const value = at.text(name);
    if (value === undefined) return undefined;
    const url = URL.parse(value);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      return at.error(name, 'must be an http or https URL');
    }
    if (url.username !== '' || url.password !== '') {
      return at.error(name, 'must not hold a user or a password; set headers.authorization');
    }
    url.hash = '';
    if (url.pathname === '/' && url.search === '') url.pathname = usualPath;
    return url.href;
  },
};

const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that the exporter sets itself. */
const ownNames = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'host', 'connection'],
  '__proto__',
]);

/** Headers by name in lower case. Values are secrets: they go to the collector and nowhere else, and no error quotes one. */
const headersKey: Key<Readonly<Record<string, string>>, ''> = {
  type: 'map of texts',
  usual: '`{}`',
  meaning: 'sent with each post, `authorization` for instance; the values are secrets and shown nowhere',
  unit: '',
  read(owner, key) {
    const at = owner.section(key);
    const headers: Record<string, string> = {};
    for (const name of at?.keys() ?? []) {
      const value = at?.text(name);
      const lower = name.toLowerCase();
      if (!fieldName.test(name) || ownNames.has(lower)) at?.error(name, 'is no header that can be added');
      else if (value === undefined) at?.error(name, 'is empty: fill it in or leave it out');
      else if (!fieldValue.test(value)) at?.error(name, 'has a value that cannot stand in a header');
      else headers[lower] = value;
    }
    return headers;
  },
};

const tracesKeys = {
  endpoint: endpointKey,
  headers: headersKey,
  sampleRatio: number('of the traces that begin here; who comes with a `traceparent` has decided already', {
    min: 0,
    max: 1,
    otherwise: 0.01,
  }),
  serviceName: text('`service.name` of the spans', { otherwise: 'sluice' }),
};

type TracesSettings = Values<typeof tracesKeys> & { readonly endpoint: string };

export const telemetryKeys = { ...requestLogKeys, traces: section(tracesKeys) };

export function readTelemetry(at: Section): TelemetrySettings {
  const { traces, recentRequests, recentRequestHeaders = [], recentRequestQuery = [] } = readKeys(at, telemetryKeys);
  return {
    traces: traces?.endpoint === undefined ? undefined : { ...traces, endpoint: traces.endpoint },
    recent: {
      slots: recentRequests,
      headers: [...new Set(recentRequestHeaders.map((name) => name.toLowerCase()))],
      query: [...new Set(recentRequestQuery)],
    },
  };
}
