// Cases of an import: requests that each route is to take, the likeliest first.
import type { NamedRoute } from './resources.ts';
import { samplePath, sampleText } from './sample-path.ts';

export interface ImportedCase {
  readonly name: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly expect: Readonly<Record<string, unknown>>;
}

/** Middlewares that may answer in the place of the action. */
const mayAnswer = ['cors', 'rateLimit', 'jwt', 'extAuthz', 'extProc', 'inlineAuthz', 'basicAuth', 'apiKey'];

type Matcher = { readonly name: string; readonly value?: string; readonly regex?: boolean };

/** Returns candidates for the case of a route; none where no path is known that its expression matches. */
export function casesOf(named: NamedRoute, schemes: readonly string[]): ImportedCase[] {
  const { name, route, listeners, destinations } = named;
  const { sample, match } = route;
  const host = hostOf(route.hosts[0]);
  const methods = match?.methods as readonly string[] | undefined;
  const possible = typeof match?.scheme === 'string' ? [match.scheme] : schemes;
  const headers = { ...headersOf(match?.headers as readonly Matcher[] | undefined), ...sample?.headers };
  const query = queryOf(match?.queryParams as readonly Matcher[] | undefined);
  return pathsOf(named).flatMap((path) =>
    possible.map((scheme) => ({
      name: `${name} takes ${path}`,
      request: {
        method: sample?.method ?? methods?.[0] ?? 'GET',
        url: `${scheme}://${host}${path}${query || (sample?.query ?? '')}`,
        ...(Object.keys(headers).length > 0 && { headers }),
        ...(sample?.clientIp !== undefined && { clientIp: sample.clientIp }),
        ...(listeners[0] !== undefined && { listener: listeners[0] }),
      },
      expect: {
        route: name,
        ...(!route.middlewares.some(({ type }) => mayAnswer.includes(type)) && outcomeOf(named, destinations)),
      },
    })),
  );
}

function outcomeOf({ route }: NamedRoute, destinations: readonly string[]): ImportedCase['expect'] {
  const { redirect, directResponse } = route;
  if (redirect !== undefined) return { status: redirect.code ?? 301 };
  if (directResponse !== undefined) return { status: directResponse.status };
  return destinations.length === 1 ? { destination: destinations[0] } : {};
}

function pathsOf({ route: { path, sample } }: NamedRoute): string[] {
  if (sample?.path !== undefined) return [sample.path];
  if (path === undefined) return ['/', '/sample', '/sample/of/an/import'];
  const { is, text } = path;
  if (is === 'exact') return [text];
  if (is === 'regex') return [samplePath(text)].filter((each) => each !== undefined);
  const below = `${text}${text.endsWith('/') ? '' : '/'}sample`;
  return [text, below, `${below}/of/an/import`];
}

const hostOf = (pattern = '*'): string => {
  if (pattern === '*') return 'any.example';
  const host = pattern.startsWith('*.') ? `any${pattern.slice(1)}` : pattern;
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
};

const textOf = ({ value, regex }: Matcher): string =>
  value === undefined ? 'x' : regex === true ? (sampleText(value) ?? '') : value;

const headersOf = (matchers: readonly Matcher[] = []): Readonly<Record<string, string>> =>
  Object.fromEntries(matchers.map((each) => [each.name, textOf(each)]));

const queryOf = (matchers: readonly Matcher[] = []): string =>
  matchers.length === 0
    ? ''
    : `?${matchers.map((each) => `${encodeURIComponent(each.name)}=${encodeURIComponent(textOf(each))}`).join('&')}`;
