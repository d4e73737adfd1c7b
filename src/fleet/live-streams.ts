// The streams that are open at one node, by token and by the id of the proxy at their other end: a thousand may come at once.
import type { ProxyRecord } from './proxy-record.ts';

export class LiveStreams {
  readonly #records = new Map<string, ProxyRecord>();
  /** Tokens of each id; there are several while two processes have one id. */
  readonly #tokens = new Map<string, Set<string>>();

  get(token: string): ProxyRecord | undefined {
    return this.#records.get(token);
  }

  records(): IterableIterator<ProxyRecord> {
    return this.#records.values();
  }

  /** Those of one proxy, with their tokens. */
  of(id: string): readonly (readonly [token: string, record: ProxyRecord])[] {
    return [...(this.#tokens.get(id) ?? [])].flatMap((token) => {
      const record = this.#records.get(token);
      return record === undefined ? [] : [[token, record] as const];
    });
  }

  enter(token: string, record: ProxyRecord): void {
    const { id } = record.facts;
    this.#records.set(token, record);
    const tokens = this.#tokens.get(id) ?? new Set();
    this.#tokens.set(id, tokens.add(token));
  }

  /** Its record is live no more; undefined when there is none. */
  exit(token: string): ProxyRecord | undefined {
    const record = this.#records.get(token);
    if (record === undefined) return undefined;
    const { id } = record.facts;
    record.isLive = false;
    record.questions?.close();
    this.#records.delete(token);
    const tokens = this.#tokens.get(id);
    tokens?.delete(token);
    if (tokens?.size === 0) this.#tokens.delete(id);
    return record;
  }
}
