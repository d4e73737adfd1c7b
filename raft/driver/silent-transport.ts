// The transport of a cluster of one: there is nobody to talk to.
import type { Transport } from './transport.ts';

export const silentTransport: Transport = {
  start() {},
  send() {},
  setPeers() {},
  close() {},
};
