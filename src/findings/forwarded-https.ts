// Listener that redirects to https behind a proxy that ends TLS: requests that came to that proxy by https are routed.
import type { Listener } from '../model/listener.ts';
import { trustsProxies } from '../proxy/message/forwarded-scheme.ts';

export const isBehindHttps = (listener: Listener | undefined): boolean =>
  listener?.tls === undefined && listener?.redirectToHttps !== undefined && trustsProxies(listener);
