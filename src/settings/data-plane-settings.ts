// Settings of the data plane, the same in both modes: one frozen object, which travels whole to every worker.
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Address } from './address.ts';
import { type Values, valuesOf } from './key.ts';
import type { RecentRequestSettings } from './request-log-settings.ts';
import { integer, oneOf, optionalInteger, text } from './scalar-key.ts';
import type { SessionStoreSettings } from './session-store-settings.ts';

const mebibyte = 1024 * 1024;
const countMax = 0x3fff_ffff;

/** Keys of section `proxy` that workers read. */
export const dataPlaneKeys = {
  workers: integer('proxy threads', { min: 1, max: 64, otherwise: availableParallelism(), usual: 'processors' }),
  bindAddress: text('overrides the address of every listener', {
    type: 'IP address',
    check: (address) => (isIP(address) === 0 ? 'must be an IP address' : undefined),
  }),
  sockets: oneOf(
    ['native', 'node'],
    'native',
    "`native` reads and writes on handles below Node's sockets; `node` on these sockets, slower. Where the handles of a version of " +
      'Node are not as expected, `node` is used, with a warning',
  ),
  maxConnections: optionalInteger(
    'connections of clients over all listeners; one beyond is closed at once. See [operations](operations.md#what-clients-may-take)',
    { min: 1, max: countMax, usual: 'descriptors − reserve' },
  ),
  maxUnfinishedHeadBytes: integer(
    'bytes held of request heads that are not whole, over all connections; beyond it the oldest end',
    { min: mebibyte, max: countMax, otherwise: 64 * mebibyte },
  ),
  celBodyMaxSize: integer('bytes of a request body that expressions see; 0 for none', { min: 0, otherwise: 65_536 }),
  retryBufferBytes: integer('bytes of a body kept for a retry', { min: 0, otherwise: 65_536 }),
};

interface BesideKeys {
  /** Time that requests in flight have once a listener was removed. */
  readonly shutdownTimeoutMs: number;
  /** Store that remembers sticky sessions beyond this process; undefined: none. */
  readonly sessionStore?: SessionStoreSettings | undefined;
  /** Requests that are remembered. */
  readonly recent: RecentRequestSettings;
  /** Address of the metrics of all listeners; undefined: they are on each listener alone. */
  readonly metricsAddress?: Address | undefined;
}

/** Settings of the data plane. */
export type DataPlaneSettings = Values<typeof dataPlaneKeys> & BesideKeys;

/** @param values those of section `proxy`; other keys of it stay behind, secrets among them. */
export const dataPlaneSettings = (values: Values<typeof dataPlaneKeys>, beside: BesideKeys): DataPlaneSettings =>
  Object.freeze({ ...valuesOf(dataPlaneKeys, values), ...beside });
