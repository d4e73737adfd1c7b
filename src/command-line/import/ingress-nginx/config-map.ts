// ConfigMap of the controller: defaults of what annotations say.
import type { Fields } from '../fields.ts';

/** Values that annotations override, by the name of the annotation. */
export type Defaults = Readonly<Record<string, string>>;

const known = [
  'ssl-redirect',
  'force-ssl-redirect',
  'proxy-connect-timeout',
  'proxy-read-timeout',
  'proxy-send-timeout',
  'load-balance',
];

const approximations: Readonly<Record<string, string>> = {
  'use-gzip': 'add a middleware of type compress to the routes',
  'enable-brotli': 'add a middleware of type compress to the routes',
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
