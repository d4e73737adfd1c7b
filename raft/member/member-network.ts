// The network side of a member: the transport, and the bootstrap while there is no cluster to belong to.
import { resolve4, resolve6 } from 'node:dns/promises';

import type { Greeting } from '../codec/greeting.ts';
import type { Config } from '../core/types.ts';
import type { Cancel, Clock } from '../driver/driver-clock.ts';
import { type Discovery, dnsDiscovery, staticDiscovery } from '../membership/discovery.ts';
import type { RandomBytes } from '../membership/member-identity.ts';
import { drawNumber } from '../membership/member-identity.ts';
import { parseAddress } from '../transport/peer-socket.ts';
import { TcpTransport, type TcpTransportOptions } from '../transport/tcp-transport.ts';
import { Bootstrap } from './member-bootstrap.ts';
import type { Notices } from './member-host.ts';
import type { ClusterOptions } from './options.ts';

export interface MemberNetworkParts {
  readonly nodeId: string;
  readonly cluster: ClusterOptions;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly host: Notices;
  readonly self: TcpTransportOptions['self'];
  readonly greeting: () => Greeting;
  readonly isRemoved: TcpTransportOptions['isRemoved'];
  /** A member of this cluster says that this node was removed from it. Called at each attempt to connect. */
  readonly removed: (reason: string) => void;
  /** A member of this cluster writes to this node, which waits for one. Called once. */
  readonly contacted: (clusterId: string) => void;
}

export class MemberNetwork {
  readonly transport: TcpTransport;
  readonly #parts: MemberNetworkParts;
  readonly #discovery: Discovery;
  readonly #noticed = new Map<string, string>();
  /** Monotonic time of the latest line of each refusal. */
  readonly #refusals = new Map<string, number>();
  #bootstrap: Bootstrap | undefined;
  #timer: Cancel = () => {};

  constructor(parts: MemberNetworkParts) {
    this.#parts = parts;
    this.#discovery = discoveryOf(parts.cluster);
    const { cluster, clock, random, self, greeting, isRemoved } = parts;
    const bind = parseAddress(cluster.bindAddress.replace(/^:/, '[::]:'));
    if (bind === undefined) throw new Error(`not an address to listen on: ${cluster.bindAddress}`);
    this.transport = new TcpTransport({
      bind,
      tls: cluster.tls,
      clusterToken: cluster.clusterToken,
      self,
      greeting,
      isRemoved,
      clock,
      random: () => drawNumber(random) / 2 ** 53,
      subscriber: {
        greeted: (peer) => this.#noticed.delete(peer.address),
        contacted: (clusterId, from) => this.#contacted(clusterId, from),
        removed: (reason) => parts.removed(reason),
        failed: (address, reason, refused) => this.#failed(address, reason, refused),
      },
    });
  }

  /** The node ids it forms a cluster with: those of the settings, with discovery those it has met. */
  get expects(): string[] {
    const { peers, discovery } = this.#parts.cluster;
    if (discovery === undefined) return peers.map(({ nodeId }) => nodeId);
    const met = this.transport.met().map(({ nodeId }) => nodeId);
    return [...new Set([...met, this.#parts.nodeId])].sort();
  }

  /** Rejects when the address cannot be listened on. */
  async listen(): Promise<void> {
    await this.transport.listen();
  }

  startBootstrap(found: (config: Config) => void): void {
    const { cluster, clock, host, greeting } = this.#parts;
    this.#bootstrap = new Bootstrap({
      options: cluster,
      clock,
      discovery: this.#discovery,
      self: greeting,
      met: () => this.transport.met(),
      greet: (addresses) => {
        this.transport.setHints(addresses);
        this.transport.greetAgain();
      },
      found: (config) => {
        this.#bootstrap = undefined;
        found(config);
      },
      waiting: (why) => host.notice(`no cluster yet: ${why}`),
    });
  }

  /** For a member of a cluster: where else the others may be, looked up again every 30 s. */
  lookAround(): void {
    this.#timer = this.#parts.clock.after(lookAroundMs, () => this.lookAround());
    this.#discovery.addresses().then(
      (addresses) => this.transport.setHints(addresses),
      (error: unknown) => this.#failed('discovery', String(error), true),
    );
  }

  close(): void {
    this.#timer();
    this.#bootstrap?.close();
    this.transport.close();
  }

  #contacted(clusterId: string, from: Greeting): void {
    const bootstrap = this.#bootstrap;
    if (bootstrap === undefined || !bootstrap.expects(from)) return;
    this.#bootstrap = undefined;
    bootstrap.close();
    this.#parts.contacted(clusterId);
  }

  /** One line for each reason, not one for each attempt. */
  #failed(address: string, reason: string, refused: boolean): void {
    // Discovery gives a node's own address too.
    if (reason.endsWith('met itself')) return;
    if (this.#noticed.get(address) === reason || (refused && this.#isRepeated(`${address} ${reason}`))) return;
    if (this.#noticed.size >= noticesMax) this.#noticed.clear();
    this.#noticed.set(address, reason);
    const { host } = this.#parts;
    const text = `peer ${address}: ${reason}`;
    if (refused) host.warning(text);
    else host.notice(text);
  }

  /** A refused node dials on for as long as it runs, with handshakes that succeed in between: one line a minute. */
  #isRepeated(refusal: string): boolean {
    const now = this.#parts.clock.monotonicMs();
    const before = this.#refusals.get(refusal);
    if (before !== undefined && now - before < refusalEveryMs) return true;
    if (this.#refusals.size >= noticesMax) this.#refusals.clear();
    this.#refusals.set(refusal, now);
    return false;
  }
}

const noticesMax = 100;
const refusalEveryMs = 60_000;
const lookAroundMs = 30_000;

function discoveryOf({ peers, discovery }: ClusterOptions): Discovery {
  if (discovery === undefined) return staticDiscovery(peers.map(({ address }) => address));
  return dnsDiscovery(discovery.dns, discovery.port, { resolve4, resolve6 });
}
