// Scheme of the client's own connection to a trusted proxy in front, as X-Forwarded-Proto says.
import type { Listener } from '../../model/listener.ts';
import { listElements } from '../fields/field-lines.ts';
import type { ExchangeRequest } from './request.ts';

/** Returns whether a value of X-Forwarded-Proto says https; of several the last, which the nearest proxy has added. */
export const namesHttps = (forwardedProto: string | undefined): boolean =>
  listElements(forwardedProto ?? '')
    .at(-1)
    ?.toLowerCase() === 'https';

/** Returns whether a listener trusts proxies to say so. */
export const trustsProxies = ({ trustedProxies = [] }: Pick<Listener, 'trustedProxies'>): boolean =>
  trustedProxies.length > 0;

/** Returns whether the peer is a trusted proxy, and the client came to it by https. */
export const cameByHttps = (request: Pick<ExchangeRequest, 'header' | 'sender'>): boolean =>
  request.sender().peerTrusted && namesHttps(request.header('x-forwarded-proto'));
