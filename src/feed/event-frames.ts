// Frames of the events about one activation (contract.md §4.1, fleet.md §3): made when the first client needs them and
// once, however many clients there are.
import { configDigest } from '../model/config-digest.ts';
import { isWritten, writtenKinds } from '../model/kinds.ts';
import type { ProxyConfig } from '../model/proxy-config.ts';

const digests = new WeakMap<ProxyConfig, string>();

/** SHA-256 of the canonical JSON of its lists, hex. */
export function digestOf(config: ProxyConfig): string {
  const known = config.sha256 ?? digests.get(config);
  if (known !== undefined) return known;
  const digest = configDigest(config.snapshot);
  digests.set(config, digest);
  return digest;
}

export class Frames {
  readonly config: ProxyConfig;
  #text: string | undefined;
  #plain: Buffer | undefined;
  #own: Buffer | undefined;
  #current: Buffer | undefined;
  readonly #onMade: (bytes: number) => void;

  /** @param onMade called with the length of the plain event, once a client gets it. */
  constructor(config: ProxyConfig, onMade: (bytes: number) => void) {
    this.config = config;
    this.#onMade = onMade;
  }

  /** Plain event: the one for all clients. */
  get plain(): Buffer {
    if (this.#plain === undefined) {
      this.#plain = Buffer.from(`${this.#head}${this.#json}\n\n`);
      this.#onMade(this.#plain.length);
    }
    return this.#plain;
  }

  /** Event for Sluice proxies: also names the strings that came from secrets, and the trace of installs. */
  get own(): Buffer {
    this.#own ??= Buffer.from(`${this.#head}${this.#json.slice(0, -1)},${this.#more}\n\n`);
    return this.#own;
  }

  /** For proxies of ours that have this content, in force or as the candidate of the rollout that it completes. */
  get current(): Buffer {
    const { index, id, trace } = this.config;
    this.#current ??= Buffer.from(
      `event: current\nid: ${index}\ndata: ${JSON.stringify({ index, id, sha256: digestOf(this.config), trace })}\n\n`,
    );
    return this.#current;
  }

  get #head(): string {
    return `event: snapshot\nid: ${this.config.index}\ndata: `;
  }

  get #more(): string {
    const { secrets = [], trace } = this.config;
    return JSON.stringify({ secrets, trace }).slice(1);
  }

  get #json(): string {
    this.#text ??= textOf(this.config);
    return this.#text;
  }
}

export function textOf({ id, name, createdAt, snapshot }: ProxyConfig): string {
  const written = writtenKinds.filter((kind) => isWritten(kind, snapshot[kind]));
  const lists = Object.fromEntries(written.map((kind) => [kind, snapshot[kind]]));
  return JSON.stringify({ id, name, createdAt, snapshot: lists });
}
