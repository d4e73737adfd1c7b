// A configuration as shared bytes (architecture.md §2): written once by main, read by every worker. One JSON text per
// entity, so that a worker can read them a few at a time and skip those it has read before.
import { createHash } from 'node:crypto';
import { type ConfigKind, configKinds, perKind } from '../../model/kinds.ts';
import type { ProxyConfig } from '../../model/proxy-config.ts';
import type { BucketBlocks } from '../shared/bucket-allocator.ts';
import type { ConfigRole } from '../shared/figures.ts';
import type { UpstreamRows } from '../shared/upstream-states.ts';
import type { Discovered } from '../upstream/upstreams.ts';

/** What can be posted to a worker without copying the configuration. */
export interface PackedConfig {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly bytes: SharedArrayBuffer;
  /** Where the workers find what they know together of its destinations. */
  readonly rows: UpstreamRows;
  readonly discovered: Discovered;
  /** What rate limits count in, by id of the middleware. */
  readonly blocks: BucketBlocks;
  readonly entities: Readonly<Record<ConfigKind, readonly PackedEntity[]>>;
}

interface PackedEntity {
  readonly offset: number;
  readonly length: number;
  /** Of the text: the same text has the same hash. */
  readonly hash: string;
}

export function packConfig(
  config: ProxyConfig,
  rows: UpstreamRows,
  discovered: Discovered,
  blocks: BucketBlocks = new Map(),
): PackedConfig {
  const { index, id, name, createdAt, snapshot } = config;
  const texts: Buffer[] = [];
  let offset = 0;
  const packed = (entity: unknown): PackedEntity => {
    const text = Buffer.from(JSON.stringify(entity), 'utf8');
    texts.push(text);
    const start = offset;
    offset += text.length;
    return { offset: start, length: text.length, hash: createHash('sha256').update(text).digest('base64url') };
  };
  const entities = perKind((kind) => snapshot[kind].map(packed));
  const bytes = new SharedArrayBuffer(offset);
  Buffer.concat(texts).copy(Buffer.from(bytes));
  return { index, id, name, createdAt, bytes, rows, discovered, blocks, entities };
}

/** Reads configurations and remembers the entities of the last one, and of the last one that was tried out beside it. */
export class ConfigReader {
  readonly #rest: () => Promise<void>;
  #known: Readonly<Record<ConfigRole, ReadonlyMap<string, Parsed>>> = { stable: new Map(), candidate: new Map() };

  /** `rest` lets the thread serve what waits; it is awaited after each slice of work. */
  constructor(rest: () => Promise<void>) {
    this.#rest = rest;
  }

  async read(packed: PackedConfig, role: ConfigRole = 'stable'): Promise<ProxyConfig> {
    const { index, id, name, createdAt } = packed;
    const { stable, candidate } = this.#known;
    const known = new Map<string, Parsed>();
    const lists = perKind<Parsed[]>(() => []);
    let sliceEnd = performance.now() + sliceMs;
    for (const kind of configKinds) {
      for (const entity of packed.entities[kind]) {
        const value = stable.get(entity.hash) ?? candidate.get(entity.hash) ?? parse(packed.bytes, entity);
        known.set(entity.hash, value);
        lists[kind].push(value);
        if (performance.now() < sliceEnd) continue;
        await this.#rest();
        sliceEnd = performance.now() + sliceMs;
      }
    }
    this.#known = { ...this.#known, [role]: known };
    return { index, id, name, createdAt, snapshot: lists };
  }

  /** The candidate takes the place of the other. */
  promote(): void {
    this.#known = { stable: this.#known.candidate, candidate: new Map() };
  }

  withdraw(): void {
    this.#known = { ...this.#known, candidate: new Map() };
  }
}

/** How long a worker reads before it serves what has come meanwhile. */
const sliceMs = 4;

/** What main checked before it packed it. */
type Parsed = ReturnType<typeof JSON.parse>;

const parse = (bytes: SharedArrayBuffer, { offset, length }: PackedEntity): Parsed =>
  JSON.parse(Buffer.from(bytes, offset, length).toString('utf8'));
