// Listener that a hypothetical request comes in on: the one that is named, or the one that its URL leads to.
import { SluiceError } from '../../errors.ts';
import type { Listener } from '../../model/listener.ts';
import { compileErrorPages } from '../action/error-pages.ts';
import { httpsRedirect } from '../action/redirect-to-https.ts';
import type { ErrorPages } from '../exchange/entry.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { ServedListener } from '../match/served-listener.ts';
import { namesHttps, trustsProxies } from '../message/forwarded-scheme.ts';
import type { RoutedRequest, ServedSection } from '../message/routed-request.ts';
import { authorityForm, canonicalHost } from '../target/host.ts';

export interface ListenerQuestion {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Id or name of the listener; absent: the one that the URL leads to. */
  readonly listener?: string;
  /** Server name of the handshake; absent: it is not asked about. */
  readonly sni?: string;
}

export class ExplainedListener {
  /** Scheme of requests on a listener that was named, or has a handshake; undefined: that of the URL. */
  readonly scheme: 'http' | 'https' | undefined;
  /** Undefined where it has none. */
  readonly errorPages: ErrorPages | undefined;
  readonly #listener: Listener;
  readonly #served: ServedListener;
  readonly #sni: string | undefined;

  constructor(listener: Listener, { listener: named, sni }: ListenerQuestion) {
    this.#listener = listener;
    this.errorPages = compileErrorPages(listener.errorPages);
    this.#served = new ServedListener(listener);
    this.#sni = sni === undefined ? undefined : canonicalHost(sni);
    this.scheme = named === undefined && sni === undefined ? undefined : schemeOf(listener);
  }

  get bodyBytesMax(): number {
    return this.#served.bodyBytesMax;
  }

  sectionOf(host: string): ServedSection {
    return this.#served.sectionOf(host);
  }

  /** Returns whether the connection is for another section than the request (`tls.strictServerName`). */
  isMisdirected(request: RoutedRequest): boolean {
    if (this.#sni === undefined || request.host === '' || this.#listener.tls?.strictServerName !== true) return false;
    return this.sectionOf(this.#sni) !== request.section;
  }

  /**
   * Returns the answer of a listener that redirects to https; `nowhere` for a request without a host. A request comes from
   * a trusted proxy where the listener has any.
   */
  redirect(request: RoutedRequest): LocalReply | 'nowhere' | undefined {
    const { redirectToHttps } = this.#listener;
    if (redirectToHttps === undefined || request.scheme === 'https') return undefined;
    if (trustsProxies(this.#listener) && namesHttps(request.header('x-forwarded-proto'))) return undefined;
    return httpsRedirect(redirectToHttps)(request) ?? 'nowhere';
  }
}

/** Returns undefined for a configuration without listeners. Throws INVALID for a name that no listener has. */
export function listenerFor(listeners: readonly Listener[], question: ListenerQuestion): ExplainedListener | undefined {
  const { listener: named, sni } = question;
  const served = listeners.filter(({ protocol }) => protocol !== 'tcp');
  const listener = named === undefined ? likely(served, question) : namedIn(served, named);
  if (named !== undefined && listener === undefined)
    throw new SluiceError('INVALID', '/listener names no listener for HTTP of this configuration, by id or by name');
  if (sni !== undefined && listener?.tls === undefined)
    throw new SluiceError('INVALID', '/sni needs a listener with tls');
  return listener && new ExplainedListener(listener, question);
}

/** Returns the listener of protocol tcp that is named; undefined: none is. */
export function tcpListenerFor(listeners: readonly Listener[], named: string): Listener | undefined {
  const listener = namedIn(listeners, named);
  return listener?.protocol === 'tcp' ? listener : undefined;
}

const namedIn = (listeners: readonly Listener[], named: string): Listener | undefined =>
  listeners.find(({ id }) => id === named) ?? listeners.find(({ name }) => name === named);

/** Returns the listener with port and scheme of the URL, else the first with the scheme, else the first. */
function likely(listeners: readonly Listener[], { url, headers, sni }: ListenerQuestion): Listener | undefined {
  const [, sent = '', authority] = /^(https?):\/\/([^/?#]*)/i.exec(url) ?? [];
  const [host = ''] = Object.entries(headers).flatMap(([name, value]) => (name.toLowerCase() === 'host' ? value : []));
  const scheme = sni !== undefined || sent.toLowerCase() === 'https' ? 'https' : 'http';
  const ofScheme = listeners.filter((listener) => schemeOf(listener) === scheme);
  const said = authorityForm.exec(authority ?? host)?.[2];
  const port = said ? Number(said) : defaultPorts[scheme];
  return (
    ofScheme.find((listener) => listener.port === port) ?? ofScheme[0] ?? (sni === undefined ? listeners[0] : undefined)
  );
}

/** Scheme of the requests on a listener. */
export const schemeOf = ({ tls }: Listener): 'http' | 'https' => (tls === undefined ? 'http' : 'https');

const defaultPorts = { http: 80, https: 443 } as const;
