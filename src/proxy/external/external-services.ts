// The external services of one worker, by destination: connections are shared by all middlewares that ask the same one,
// and stay while its configuration does (architecture.md §6.15).
import type { Clock } from '../../clock.ts';
import type { Destination } from '../../model/destination.ts';
import { GrpcChannel } from './grpc-channel.ts';
import { HttpService } from './http-service.ts';

class Service {
  readonly destination: Destination;
  readonly content: string;
  readonly #clock: Clock;
  #http: HttpService | undefined;
  #grpc: GrpcChannel | undefined;

  constructor(destination: Destination, content: string, clock: Clock) {
    this.destination = destination;
    this.content = content;
    this.#clock = clock;
  }

  get http(): HttpService {
    this.#http ??= new HttpService(this.destination);
    return this.#http;
  }

  get grpc(): GrpcChannel {
    this.#grpc ??= new GrpcChannel(this.destination, this.#clock);
    return this.#grpc;
  }

  close(): void {
    this.#http?.close();
    this.#grpc?.close();
  }
}

export class ExternalServices {
  readonly #clock: Clock;
  #services = new Map<string, Service>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The configuration that goes into force. What it does not change keeps its connections. */
  follow(destinations: readonly Destination[]): void {
    const next = new Map<string, Service>();
    for (const destination of destinations) {
      const known = this.#services.get(destination.id);
      const same = known?.destination === destination || known?.content === JSON.stringify(destination);
      const { id } = destination;
      next.set(
        id,
        known !== undefined && same ? known : new Service(destination, JSON.stringify(destination), this.#clock),
      );
    }
    for (const [id, service] of this.#services) if (next.get(id) !== service) service.close();
    this.#services = next;
  }

  /** Undefined when no destination has that id. */
  http(destinationId: string): HttpService | undefined {
    return this.#services.get(destinationId)?.http;
  }

  grpc(destinationId: string): GrpcChannel | undefined {
    return this.#services.get(destinationId)?.grpc;
  }

  close(): void {
    this.follow([]);
  }
}
