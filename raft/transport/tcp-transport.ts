// Transport of the product: framed TCP between nodes, optionally under mutual TLS (raft.md A21). Each node dials every
// peer and sends over the connection it dialled; a peer that cannot be dialled is answered over the connection it
// opened. Before a node belongs to a cluster the transport only greets, so that membership/ can decide about its
// creation.
import type { AddressInfo, Server, Socket } from 'node:net';

import type { Greeting } from '../codec/greeting.ts';
import { decodeMessage } from '../codec/message-decoder.ts';
import type { Message } from '../core/message.ts';
import { type Member, type MemberId, memberId } from '../core/types.ts';
import type { Clock } from '../driver/driver-clock.ts';
import type { Receiver, Transport } from '../driver/transport.ts';
import { PeerAdmission } from './peer-admission.ts';
import { AcceptorHandshake, DiallerHandshake, type HandshakeParty, randomNonce, tokenKey } from './peer-handshake.ts';
import { PeerLinks } from './peer-links.ts';
import { acceptor, certificateNames, dial, type PeerTls, parseAddress } from './peer-socket.ts';
import { Peers } from './peers.ts';
import { isPrivateAddress } from './private-address.ts';
import { TcpConnection } from './tcp-connection.ts';
import { type LinkEvents, TcpLink } from './tcp-link.ts';

export interface TcpTransportOptions {
  /** Address to listen on; port 0 lets the system choose. */
  readonly bind: { readonly host: string; readonly port: number };
  readonly tls: PeerTls | undefined;
  /** Shared secret of the cluster. Without it and without `tls` only private addresses may connect. */
  readonly clusterToken: string | undefined;
  /** Identity of this node now, and its cluster; asked for every message. */
  readonly self: () => { readonly id: MemberId; readonly clusterId: string | undefined };
  /** Greeting of this node when a connection opens. */
  readonly greeting: () => Greeting;
  /** This identity was removed from the cluster and may never return. */
  readonly isRemoved: (id: MemberId) => boolean;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly subscriber: TransportSubscriber;
}

/** Events of the transport besides messages. */
interface TransportSubscriber {
  /** Called after a successful handshake, with the node at the other end. */
  greeted(peer: Greeting): void;
  /** A member of a cluster writes to this node, which belongs to none yet. The message waits for the receiver. */
  contacted(clusterId: string, from: Greeting): void;
  /** A member of the cluster says that this node was removed from it. */
  removed(reason: string): void;
  /** A connection to this address came to nothing. `refused`: and will not come about until an operator acts. */
  failed(address: string, reason: string, refused: boolean): void;
}

/** Messages and connections that came to nothing, by cause, since the start. */
export interface TransportCounts {
  wrongCluster: number;
  wrongIdentity: number;
  malformed: number;
  refused: number;
  unsendable: number;
}

const connectionsMax = 64;

export class TcpTransport implements Transport {
  readonly #options: TcpTransportOptions;
  readonly #server: Server;
  readonly #party: HandshakeParty;
  readonly #peers = new Peers((peer) => this.#receiver?.unreachable(peer));
  readonly #links: PeerLinks;
  readonly #accepted = new Set<TcpConnection>();
  /** Greeting of the other end of each connection that stands, in the order in which they came. */
  readonly #met = new Map<TcpConnection, Greeting>();
  readonly counts: TransportCounts = { wrongCluster: 0, wrongIdentity: 0, malformed: 0, refused: 0, unsendable: 0 };
  /**
   * Latest message of each connected peer from before there was a receiver: the first one asks for a vote. A peer that is
   * gone says it again, so there are no more than connections.
   */
  readonly #early = new Map<MemberId, Message>();
  #receiver: Receiver | undefined;
  #closed = false;

  constructor(options: TcpTransportOptions) {
    this.#options = options;
    const admission = new PeerAdmission(options.greeting, options.isRemoved);
    this.#party = {
      key: tokenKey(options.clusterToken),
      seals: options.clusterToken !== undefined && options.tls === undefined,
      greeting: options.greeting,
      problem: (peer) => admission.problem(peer),
      isRemoved: (peer) => admission.isRemoved(peer),
      removed: (reason) => options.subscriber.removed(reason),
      nonce: randomNonce,
    };
    this.#links = new PeerLinks((address) => this.#dial(address));
    this.#server = acceptor(options.tls, {
      accepted: (socket) => this.#accept(socket),
      failed: (address, reason) => this.#fail(address, reason, true),
    });
  }

  /** Binds; rejects when the address is taken or not of this machine. Gives the port, for a port of 0. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.bind, resolve);
    });
    // Running out of file descriptors shows here, at an accept. It passes.
    this.#server.on('error', (error) => this.#fail('listener', error.message, true));
    return (this.#server.address() as AddressInfo).port;
  }

  /** Addresses where nodes may be found that are no members, or members under another address. */
  setHints(addresses: readonly string[]): void {
    this.#links.setHints(addresses);
  }

  /** Greets all nodes afresh: a greeting is exchanged when a connection opens. */
  greetAgain(): void {
    this.#links.redial();
  }

  /**
   * Hangs up after a change of this node's name: nodes that dialled it before know it by the former one, and are to
   * dial again.
   */
  renamed(): void {
    for (const connection of this.#accepted) connection.close('this node has another name now');
  }

  /** Returns the latest greeting of each node connected now. */
  met(): Greeting[] {
    return [...new Map([...this.#met.values()].map((greeting) => [memberId(greeting), greeting])).values()];
  }

  start(receiver: Receiver): void {
    this.#receiver = receiver;
    for (const message of this.#early.values()) this.#take(message);
    this.#early.clear();
  }

  send(message: Message): void {
    if (!this.#peers.push(message)) this.counts.unsendable += 1;
  }

  setPeers(peers: readonly Member[]): void {
    const others = peers.filter(({ id }) => id !== this.#options.self().id);
    this.#peers.setMembers(others.map(({ id }) => id));
    this.#links.setMembers(others.map(({ address }) => address));
  }

  close(): void {
    this.#closed = true;
    this.#links.close();
    for (const connection of this.#accepted) connection.close('this node stops');
    this.#server.close();
  }

  #dial(address: string): TcpLink | undefined {
    const to = parseAddress(address);
    if (to === undefined || this.#closed || address === this.#options.greeting().address) return undefined;
    return new TcpLink({
      clock: this.#options.clock,
      random: this.#options.random,
      dial: (ready) => dial(to, this.#options.tls, ready),
      failed: (reason, refused) => this.#fail(address, reason, refused),
      converse: (socket, events) => {
        const handshake = new DiallerHandshake(this.#partyFor(socket));
        return this.#converse(socket, address, handshake, events);
      },
    });
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? 'unknown';
    const guarded = this.#options.tls !== undefined || this.#options.clusterToken !== undefined;
    if (this.#closed || !(guarded || isPrivateAddress(socket.remoteAddress))) {
      this.#fail(address, 'connections from outside need a cluster token or TLS', true);
      socket.destroy();
      return;
    }
    this.#makeRoom();
    const handshake = new AcceptorHandshake(this.#partyFor(socket));
    const forget = () => this.#accepted.delete(connection);
    const connection = this.#converse(socket, address, handshake, { accepted: () => {}, closed: forget });
    this.#accepted.add(connection);
  }

  /** Connections without an introduction must not keep members out: the oldest of them is closed. */
  #makeRoom(): void {
    if (this.#accepted.size < connectionsMax) return;
    const [oldest] = this.#accepted;
    const stranger = [...this.#accepted].find((connection) => !this.#met.has(connection));
    (stranger ?? oldest)?.close('too many connections');
  }

  /** With TLS and without a token the certificate is what proves the name. */
  #partyFor(socket: Socket): HandshakeParty {
    const { tls, clusterToken } = this.#options;
    if (tls === undefined || clusterToken !== undefined) return this.#party;
    const problem = (peer: Greeting) =>
      certificateNames(socket, peer.nodeId)
        ? this.#party.problem(peer)
        : `the certificate does not name ${peer.nodeId}`;
    return { ...this.#party, problem };
  }

  #converse(
    socket: Socket,
    address: string,
    handshake: DiallerHandshake | AcceptorHandshake,
    events: LinkEvents,
  ): TcpConnection {
    let peer: Greeting | undefined;
    const connection: TcpConnection = new TcpConnection(socket, handshake, this.#options.clock, {
      accepted: (greeting) => {
        peer = greeting;
        this.#met.set(connection, greeting);
        events.accepted(greeting);
        this.#peers.attach(memberId(greeting), connection, handshake instanceof DiallerHandshake);
        this.#options.subscriber.greeted(greeting);
      },
      message: (bytes, isOwn) => peer !== undefined && this.#deliver(peer, bytes, isOwn),
      closed: (reason, refused) => {
        this.#met.delete(connection);
        if (peer !== undefined) this.#forgetEarly(memberId(peer));
        if (peer === undefined || refused) this.#fail(address, reason, refused);
        if (peer !== undefined) this.#peers.detach(memberId(peer), connection);
        events.closed(reason, refused);
      },
    });
    return connection;
  }

  #deliver(peer: Greeting, bytes: Uint8Array, isOwn: boolean): boolean {
    const message = decodeMessage(bytes, isOwn);
    if (message === undefined) {
      this.counts.malformed += 1;
      return false;
    }
    const { id, clusterId } = this.#options.self();
    if (message.from !== memberId(peer) || message.to !== id) this.counts.wrongIdentity += 1;
    else {
      if (clusterId === undefined) this.#options.subscriber.contacted(message.clusterId, peer);
      this.#take(message);
    }
    return true;
  }

  #take(message: Message): void {
    if (this.#receiver === undefined) this.#early.set(message.from, message);
    else if (message.clusterId !== this.#options.self().clusterId) this.counts.wrongCluster += 1;
    else this.#receiver.receive(message);
  }

  #forgetEarly(id: MemberId): void {
    const isConnected = [...this.#met.values()].some((greeting) => memberId(greeting) === id);
    if (this.#early.size > 0 && !isConnected) this.#early.delete(id);
  }

  #fail(address: string, reason: string, refused: boolean): void {
    this.counts.refused += 1;
    this.#options.subscriber.failed(address, reason, refused);
  }
}
