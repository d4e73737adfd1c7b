// Listener service: what one listener does with the connections of its port. A port keeps its socket while the service
// of it changes, and may have two: one that ends TLS, and one that passes it through for some server names.
import type { Listener } from '../../model/listener.ts';
import type { TcpHandle } from '../socket/stream-handle.ts';
import type { TlsTerminator } from '../tls/terminator.ts';
import type { Admitted } from './proxy-admission.ts';

/** A listener with what it needs at its port. */
export interface PortOwner {
  readonly listener: Listener;
  /** Undefined: the listener ends no TLS. */
  readonly terminator: TlsTerminator | undefined;
  /** Memory in which the listener's own connections are counted; undefined: it has no limit of its own. */
  readonly memory: SharedArrayBuffer | undefined;
}

/** A connection of which bytes were read already. */
export interface BegunHandshake {
  readonly handle: TcpHandle;
  /** Bytes of the client that are not used yet. */
  readonly bytes: Buffer;
  /** Milliseconds of its time that the client has used. */
  readonly spentMs: number;
}

export interface ListenerService {
  /** Id of the listener. */
  readonly id: string;
  /** Failed TLS handshakes by reason since the service began. */
  readonly handshakeFailures: ReadonlyMap<string, number>;
  /** Forgets the metrics of the listener. */
  forgetCounters(): void;
  /**
   * Swaps all settings but the address, for new connections. Open ones keep their TLS; those that would not be
   * admitted now are drained.
   */
  configure(owner: PortOwner): void;
  accept(handle: TcpHandle): void;
  /** Returns how a connection begins for the listener, when it comes to a port that two share. */
  admissionOf(handle: TcpHandle): Admitted;
  /** Takes a connection over that another service of the port has read the hello of. */
  takeOver(begun: BegunHandshake): void;
  /** Ends idle connections, gives the others `withinMs`, then aborts them. Resolves when none is left. */
  drain(withinMs: number): Promise<void>;
}
