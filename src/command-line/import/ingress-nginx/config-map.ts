// ConfigMap of the controller: defaults of what annotations say.
import type { Fields } from '../fields.ts';
import type { ModelFields } from '../intermediate.ts';
import { nginxBodyBytesMax } from '../shared/common.ts';

/** Values that annotations override, by the name of the annotation. */
export type Defaults = Readonly<Record<string, string>>;

const known = [
  'ssl-redirect',
  'force-ssl-redirect',
  'proxy-connect-timeout',
  'proxy-read-timeout',
  'proxy-send-timeout',
  'load-balance',
  'proxy-body-size',
  'use-gzip',
  'gzip-types',
  'gzip-level',
  'gzip-min-length',
  'enable-brotli',
  'brotli-level',
  'use-proxy-protocol',
  'use-forwarded-headers',
  'proxy-real-ip-cidr',
];

const approximations: Readonly<Record<string, string>> = {
  'brotli-types': 'types and lengths are those of gzip',
  'brotli-min-length': 'types and lengths are those of gzip',
  'server-tokens': 'Sluice names itself to no client unless serverName is set',
  'keep-alive': 'timeouts.idleBetweenRequests of the listener is 120s',
  'log-format-upstream': 'add a middleware of type accessLog to the routes',
  'worker-processes': 'the settings of the node say how many workers there are',
  'ssl-protocols': 'the listener takes TLS 1.2 and later',
  'proxy-buffer-size': 'Sluice streams bodies and has no buffers to set',
};

export function controllerDefaults(configMap: Fields): Defaults {
  configMap.child('metadata')?.ledger.takenWhole(configMap.child('metadata')?.statement ?? configMap.statement);
  const data = configMap.child('data');
  const defaults: Record<string, string> = {};
  for (const key of data?.keys ?? []) {
    if (known.includes(key)) defaults[key] = data?.text(key) ?? '';
    else if (approximations[key] !== undefined) data?.approximated(key, approximations[key]);
    else
      data?.notTaken(
        key,
        'has no counterpart for all routes',
        'the field of the listener or the route, if there is one',
      );
  }
  return defaults;
}

/** Fields of all listeners. */
export function listenerFields(defaults: Defaults): ModelFields {
  const isProxied = defaults['use-proxy-protocol'] === 'true';
  const ranges = (defaults['proxy-real-ip-cidr'] ?? '0.0.0.0/0,::/0').split(',').map((each) => each.trim());
  return {
    maxRequestBodyBytes: nginxBodyBytesMax,
    ...((isProxied || defaults['use-forwarded-headers'] === 'true') && { trustedProxies: ranges }),
    ...(isProxied && { proxyProtocol: 'required' }),
  };
}
