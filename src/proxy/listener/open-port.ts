// Open port: the socket of a place, and the services of the listeners that have it. Usually one; a listener that passes
// TLS through shares its place with one that ends it, and takes the connections whose server name a stream route of its
// own matches (layer4.md §3).
import type { TcpHandle } from '../socket/stream-handle.ts';
import type { ListenerService, PortOwner } from './listener-service.ts';
import type { ListenerTools } from './listener-tools.ts';
import { type ListenerPlace, PortSocket } from './port-socket.ts';
import { HttpService } from './proxy-listener.ts';
import { StreamService } from './stream-service.ts';

/** Listeners of one place, at least one. */
export interface PortOwners {
  /** The one that speaks itself: HTTP or TCP, with TLS or without. */
  readonly main?: PortOwner | undefined;
  /** The one that passes TLS through. */
  readonly passthrough?: PortOwner | undefined;
}

export class OpenPort {
  readonly #place: string;
  readonly #socket: PortSocket;
  readonly #tools: ListenerTools;
  #main: HttpService | StreamService | undefined;
  #passthrough: StreamService | undefined;
  /** Services that the port has no more, while they have connections. */
  readonly #former = new Map<ListenerService, Promise<void>>();

  private constructor(place: ListenerPlace, tools: ListenerTools) {
    this.#place = `${place.address}:${place.port}`;
    this.#tools = tools;
    this.#socket = new PortSocket(tools.telemetry.logger);
  }

  /** Opens the port. Rejects with the system's error when it cannot be bound. */
  static async open(place: ListenerPlace, owners: PortOwners, tools: ListenerTools): Promise<OpenPort> {
    const port = new OpenPort(place, tools);
    port.configure(owners, 0);
    await port.#socket.bind(place, (handle) => port.#accept(handle));
    return port;
  }

  /** Services of the port, former ones with connections among them. */
  get services(): readonly ListenerService[] {
    return [this.#main, this.#passthrough, ...this.#former.keys()].filter((each) => each !== undefined);
  }

  /** Swaps the listeners of the port. Connections of one that has left have `drainMsMax`. */
  configure({ main, passthrough }: PortOwners, drainMsMax: number): void {
    const protocol = main?.listener.protocol === 'tcp' ? StreamService : HttpService;
    if (this.#main !== undefined && !(main !== undefined && this.#main instanceof protocol)) {
      this.#retire(this.#main, drainMsMax);
      this.#main = undefined;
    }
    if (this.#passthrough !== undefined && passthrough === undefined) {
      this.#retire(this.#passthrough, drainMsMax);
      this.#passthrough = undefined;
    }
    if (main !== undefined) {
      if (this.#main === undefined) this.#main = new protocol(main, this.#place, this.#tools);
      else this.#main.configure(main);
    }
    if (passthrough === undefined) return;
    if (this.#passthrough === undefined)
      this.#passthrough = new StreamService(passthrough, this.#place, this.#tools, () => this.#main);
    else this.#passthrough.configure(passthrough);
  }

  /** Stops accepting, ends idle connections, gives the others `withinMs`, then aborts them. */
  async close(withinMs: number): Promise<void> {
    for (const service of [this.#main, this.#passthrough]) if (service !== undefined) this.#retire(service, withinMs);
    await Promise.all([this.#socket.close(), ...this.#former.values()]);
  }

  #accept(handle: TcpHandle): void {
    const service = this.#passthrough ?? this.#main;
    if (service === undefined) handle.close();
    else service.accept(handle);
  }

  #retire(service: ListenerService, withinMs: number): void {
    const drained = service.drain(withinMs).finally(() => this.#former.delete(service));
    this.#former.set(service, drained);
  }
}
