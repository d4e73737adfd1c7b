// Keys of the data plane, the same in both modes.
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { integer, optionalInteger, text } from './scalar-key.ts';

const mebibyte = 1024 * 1024;
const countMax = 0x3fff_ffff;

/** Keys of section `proxy` that workers read. */
export const dataPlaneKeys = {
  workers: integer('proxy threads', { min: 1, max: 64, otherwise: availableParallelism(), usual: 'processors' }),
  bindAddress: text('overrides the address of every listener', {
    type: 'IP address',
    check: (address) => (isIP(address) === 0 ? 'must be an IP address' : undefined),
  }),
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
