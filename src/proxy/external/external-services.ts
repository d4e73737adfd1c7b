// The external services of one worker, by destination: connections are shared by all middlewares that ask the same one,
// and by all
// configurations that have it alike, and stay while its configuration does (architecture.md §6.15).
import type { Destination } from '../../model/destination.ts';
import { contentOf } from '../../model/entity-content.ts';
import { type ChannelTools, GrpcChannel } from './grpc-channel.ts';
import { HttpService } from './http-service.ts';

class Service {
  readonly destination: Destination;
  readonly content: string;
  readonly #tools: ChannelTools;
  #http: HttpService | undefined;
  #grpc: GrpcChannel | undefined;

  constructor(destination: Destination, content: string, tools: ChannelTools) {
    this.destination = destination;
    this.content = content;
    this.#tools = tools;
  }

  is(destination: Destination): boolean {
    return this.destination === destination || this.content === contentOf(destination);
  }

  get http(): HttpService {
    this.#http ??= new HttpService(this.destination, this.#tools);
    return this.#http;
  }

  get grpc(): GrpcChannel {
    this.#grpc ??= new GrpcChannel(this.destination, this.#tools);
    return this.#grpc;
  }

  close(): void {
    this.#http?.close();
    this.#grpc?.close();
  }
}

/** External services, by id of the destination. */
export interface ExternalDirectory {
  /** Undefined when no destination has that id. */
  http(destinationId: string): HttpService | undefined;
  grpc(destinationId: string): GrpcChannel | undefined;
}

export class ExternalServices {
  readonly #tools: ChannelTools;
  /** By id; two of one id while two configurations mean different things by it. */
  #services = new Map<string, readonly Service[]>();

  constructor(tools: ChannelTools) {
    this.#tools = tools;
  }

  /** Takes up the destinations of the configurations in force. An unchanged one keeps its connections. */
  follow(destinations: readonly Destination[]): void {
    const next = new Map<string, readonly Service[]>();
    for (const destination of destinations) {
      const { id } = destination;
      const others = next.get(id) ?? [];
      if (others.some((each) => each.is(destination))) continue;
      const known = this.#services.get(id)?.find((each) => each.is(destination));
      next.set(id, [...others, known ?? new Service(destination, contentOf(destination), this.#tools)]);
    }
    for (const [id, services] of this.#services) {
      for (const service of services) if (next.get(id)?.includes(service) !== true) service.close();
    }
    this.#services = next;
  }

  /**
   * Returns the services for a middleware that means `destination` by its id; when it is gone, the one that is left of
   * that id.
   */
  directory(destination: Destination | undefined): ExternalDirectory {
    const find = (id: string): Service | undefined => {
      if (destination === undefined || destination.id !== id) return undefined;
      const services = this.#services.get(id);
      if (services === undefined || services.length === 1) return services?.[0];
      return services.find((each) => each.is(destination)) ?? services[0];
    };
    return { http: (id) => find(id)?.http, grpc: (id) => find(id)?.grpc };
  }

  close(): void {
    this.follow([]);
  }
}
