// Choice of servers, certificates and key: flags before environment before context before the default.
import { wrongUsage } from '../exit.ts';
import { durationGiven } from '../flag-values.ts';
import { type ConnectionContext, contextNamed, readContexts } from './context-file.ts';
import { apiKeyOf, readText } from './credentials.ts';
import type { CallTarget } from './http-call.ts';

export interface ConnectionOptions {
  readonly server: readonly string[];
  readonly context: string | undefined;
  readonly apiKeyFile: string | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly timeout: string | undefined;
}

export interface Connection {
  readonly targets: readonly CallTarget[];
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
}

const defaultServer = 'http://127.0.0.1:8080';
const defaultTimeoutMs = 60_000;

/** `given`: context to take in the place of the one that is named or current. */
export async function connectionOf(
  options: ConnectionOptions,
  warn: (text: string) => void,
  given?: ConnectionContext,
): Promise<Connection> {
  const timeoutMs = options.timeout === undefined ? defaultTimeoutMs : durationGiven('timeout', options.timeout, '10s');
  const context = given ?? (await contextOf(options));
  const apiKey = await apiKeyOf(options.apiKeyFile, context);
  const { ca, cert, key } = await tlsOf(options, context);
  const targets = serversOf(options, context?.servers).map((server) => ({ url: serverUrl(server), ca, cert, key }));
  if (apiKey !== undefined)
    for (const { url } of targets)
      if (url.protocol === 'http:' && !isLoopback(url.hostname))
        warn(`the API key travels to ${url.origin} in the clear: use https`);
  return { targets, apiKey, timeoutMs };
}

/** A server named by flag or environment needs no context; without one the current context is taken. */
async function contextOf({ context, server }: ConnectionOptions): Promise<ConnectionContext | undefined> {
  const name = context ?? (process.env.SLUICE_CONTEXT || undefined);
  if (name !== undefined) return contextNamed(await readContexts(), name);
  if (server.length > 0 || process.env.SLUICE_SERVER) return undefined;
  const contexts = await readContexts();
  return contexts.current === undefined ? undefined : contextNamed(contexts, contexts.current);
}

/** `known`: servers of the context. */
export function serversOf(
  { server }: Pick<ConnectionOptions, 'server'>,
  known: readonly string[] | undefined,
): readonly string[] {
  if (server.length > 0) return server.flatMap(listed);
  const fromEnvironment = listed(process.env.SLUICE_SERVER ?? '');
  if (fromEnvironment.length > 0) return fromEnvironment;
  return known ?? [defaultServer];
}

const listed = (text: string): string[] => text.split(/[\s,]+/).filter((each) => each !== '');

/** Certificates of a context belong to its servers alone. */
async function tlsOf({ ca, cert, key }: ConnectionOptions, context: ConnectionContext | undefined) {
  const files = { ca: ca ?? context?.ca, cert: cert ?? context?.cert, key: key ?? context?.key };
  if ((files.cert === undefined) !== (files.key === undefined)) throw wrongUsage('--cert and --key belong together');
  const pem = async (file: string | undefined) => (file === undefined ? undefined : await readText(file));
  return { ca: await pem(files.ca), cert: await pem(files.cert), key: await pem(files.key) };
}

/** Reads the URL of a server; `host:port` is http. */
export function serverUrl(text: string): URL {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw wrongUsage(`--server must be a URL such as https://node-1:8080, not ${text}`);
  if (url.username + url.password !== '')
    throw wrongUsage(`--server must not hold a user or a password: --api-key-file names the key of ${url.host}`);
  return url;
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.');
