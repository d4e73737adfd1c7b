// The services that mixed exchanges ask over gRPC: what they are shown has to be of one exchange, and what they set says
// of which. Those that are asked over HTTP are in test/go.
import { type Fields, GrpcService } from './grpc-service.ts';

/** Ports by the name of the service. */
export interface MixedPorts {
  readonly authorizer: number;
  readonly processor: number;
  readonly envoy: number;
}

const anyId = /x\d{9}-\d{3}-\d{7}/g;

export class MixedServices {
  /** Lines as those of test/go. */
  readonly failures: string[] = [];
  readonly #running: GrpcService[] = [];

  async start(): Promise<MixedPorts> {
    const authorizer = this.#service().unary('extauthz.proto', 'extauthz.v1.Authorizer', 'Check', (request) => {
      const id = this.#idIn('authorizer', undefined, request);
      return { allowed: true, headers: [{ key: 'x-authz', value: id }] };
    });
    const processor = this.#processor('extproc.proto', 'extproc.v1.Processor', (field) => ({ set_headers: [field] }));
    const envoy = this.#processor(
      'envoy-processing.proto',
      'envoy.service.ext_proc.v3.ExternalProcessor',
      ({ key, value }) => ({
        response: { header_mutation: { set_headers: [{ header: { key, raw_value: Buffer.from(value) } }] } },
      }),
    );
    const [first = 0, second = 0, third = 0] = await Promise.all(
      [authorizer, processor, envoy].map((each) => each.start()),
    );
    return { authorizer: first, processor: second, envoy: third };
  }

  stop(): void {
    for (const service of this.#running) service.stop();
  }

  #service(): GrpcService {
    const service = new GrpcService();
    this.#running.push(service);
    return service;
  }

  /** Handler of a stream, which is one exchange. */
  #processor(file: string, name: string, setting: (field: { key: string; value: string }) => Fields): GrpcService {
    const ids = new WeakMap<object, string>();
    return this.#service().stream(file, name, 'Process', (request, stream) => {
      const phase = Object.keys(request).find((key) => /^re(quest|sponse)_(headers|body)$/.test(key)) ?? '';
      const id = this.#idIn(name, ids.get(stream), request);
      ids.set(stream, id);
      const field = { key: `x-proc-${phase.replace('_', '')}`, value: id };
      stream.write({ [phase]: phase.endsWith('_headers') ? setting(field) : {} });
    });
  }

  /** The only one there is, which has to be `known` if there is such. */
  #idIn(who: string, known: string | undefined, request: Fields): string {
    const text = JSON.stringify(request, (_key, value: unknown) => asText(value));
    const [first = known ?? '', ...rest] = text.match(anyId) ?? [];
    const others = [first, ...rest].filter((id) => id !== (known ?? first));
    if (others.length > 0) this.failures.push(`FAIL ${who} ${known ?? first} is shown ${others[0]} too`);
    return known ?? first;
  }
}

/** Buffers have made JSON of themselves by then. */
function asText(value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
  return type === 'Buffer' && Array.isArray(data) ? Buffer.from(data as number[]).toString('latin1') : value;
}
