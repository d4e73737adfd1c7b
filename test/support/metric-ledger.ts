// Ledger of expected metrics beside those of a proxy: a test records here what it did to the proxy, in the terms of
// contract.md §10, and both are compared sample by sample.

export type Samples = Map<string, number>;

/** Ledger of one listener with all dimensions on and one bucket of a thousand seconds. */
export class MetricLedger {
  readonly expected: Samples = new Map();
  readonly #listener: string;

  constructor(name: string, port: number) {
    this.#listener = `listener="${name}",address="0.0.0.0:${port}"`;
    for (const family of ['connections_total', 'active_connections', 'tls_handshake_errors_total']) {
      this.expected.set(`sluice_listener_${family}{${this.#listener}}`, 0);
    }
  }

  /** Sets a gauge. */
  state(sample: string, value: number): void {
    this.expected.set(sample, value);
  }

  connections(count: number): void {
    this.#add(`sluice_listener_connections_total{${this.#listener}}`, count);
  }

  open(count: number): void {
    this.state(`sluice_listener_active_connections{${this.#listener}}`, count);
  }

  handshakeErrors(count: number): void {
    this.#add(`sluice_listener_tls_handshake_errors_total{${this.#listener}}`, count);
  }

  error(type: string, status: number): void {
    this.#add(`sluice_proxy_errors_total{${this.#listener},type="${type}",status_code="${status}"}`, 1);
  }

  /** An exchange that the route won; bytes of the two bodies. */
  route(route: string, group: string, method: string, status: number, requestBytes = 0, responseBytes = 0): void {
    const own = `route="${route}",group="${group}"`;
    this.#add(`sluice_route_requests_total{${own},method="${method}",${statusText(status)}}`, 1);
    this.#observe('sluice_route_duration_seconds', `${own},method="${method}"`);
    this.#add(`sluice_route_request_bytes_total{${own}}`, requestBytes);
    this.#add(`sluice_route_response_bytes_total{${own}}`, responseBytes);
    this.#add(`sluice_route_inflight_requests{${own}}`, 0);
  }

  retry(route: string, group: string, attempt: number): void {
    this.#add(`sluice_route_retries_total{route="${route}",group="${group}",attempt="${attempt}"}`, 1);
  }

  mirror(route: string, destination: string): void {
    this.#add(`sluice_mirror_requests_total{route="${route}",destination="${destination}"}`, 1);
  }

  /** An exchange that chose an endpoint. */
  target(destination: string, endpoint: string, status: number): void {
    const own = `destination="${destination}"`;
    this.#add(`sluice_destination_requests_total{${own},${statusText(status)}}`, 1);
    this.#observe('sluice_destination_duration_seconds', own);
    this.#add(`sluice_destination_inflight_requests{${own}}`, 0);
    this.#add(`sluice_endpoint_requests_total{${own},endpoint="${endpoint}",${statusText(status)}}`, 1);
    this.#observe('sluice_endpoint_duration_seconds', `${own},endpoint="${endpoint}"`);
  }

  /** A run of a middleware; `rejected`: with that status. */
  middleware(name: string, type: string, rejected = 0): void {
    const own = `middleware="${name}",type="${type}"`;
    this.#observe('sluice_middleware_duration_seconds', own);
    if (rejected > 0) this.#add(`sluice_middleware_rejections_total{${own},status_code="${rejected}"}`, 1);
    else this.#add(`sluice_middleware_passed_total{${own}}`, 1);
    if (type !== 'rateLimit') return;
    this.#add(`sluice_rate_limit_tokens_total{${own},result="${rejected > 0 ? 'refused' : 'taken'}"}`, 1);
  }

  /** Every sample that is not as the ledger says, `name: kept here, shown there`. Sums of times are left out. */
  differences(shown: Samples): string[] {
    const names = new Set([...this.expected.keys(), ...shown.keys()].filter((name) => !/_sum\{/.test(name)));
    return [...names]
      .filter((name) => this.expected.get(name) !== shown.get(name))
      .map((name) => `${name}: ${this.expected.get(name) ?? 'none'} here, ${shown.get(name) ?? 'none'} there`)
      .sort();
  }

  #observe(name: string, labels: string): void {
    this.#add(`${name}_bucket{${labels},le="1000"}`, 1);
    this.#add(`${name}_bucket{${labels},le="+Inf"}`, 1);
    this.#add(`${name}_count{${labels}}`, 1);
  }

  #add(sample: string, value: number): void {
    this.expected.set(sample, (this.expected.get(sample) ?? 0) + value);
  }
}

const statusText = (status: number): string =>
  `status_code="${String(status).padStart(3, '0')}",status_class="${Math.min(5, Math.max(1, Math.floor(status / 100)))}xx"`;

/** Samples of Prometheus text. */
export function samplesOf(text: string): Samples {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line): [string, number] => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
