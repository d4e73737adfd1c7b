// Consumers of one configuration by their credentials (contract.md §2.13). A credential that two of them have is none: a
// request is never of one or the other by chance.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ConsumerFacts } from '../../expression/cel/value-view.ts';
import type { Consumer, ConsumerCredential } from '../../model/consumer.ts';
import { type PasswordHash, parsePasswordHash } from '../../model/password-hash.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import { hashOfStoredKey } from '../../model/stored-api-key.ts';
import { Unambiguous } from './unambiguous.ts';

/** Consumers between two pauses. */
const stride = 64;
const hashBytes = 32;

/**
 * Random bytes before each hash of a key that is looked up: the time of a look-up depends on what no client can choose or
 * compute.
 */
const salted = Buffer.concat([randomBytes(hashBytes), Buffer.alloc(hashBytes)]);

function placeOf(digest: Buffer): string {
  digest.copy(salted, hashBytes);
  return hash('sha256', salted, 'base64');
}

interface KeyOwner {
  /** SHA-256 of the key. */
  readonly digest: Buffer;
  readonly consumer: ConsumerFacts;
}

/** Credential of type basic. */
export interface ConsumerUser {
  readonly consumer: ConsumerFacts;
  readonly password: PasswordHash;
}

export interface CompiledConsumers {
  readonly directory: ConsumerDirectory;
  /** Credentials that count for no consumer. Pointers name consumers by id: `/consumers/<id>/credentials/0`. */
  readonly problems: readonly Problem[];
}

export class ConsumerDirectory {
  static readonly none = new ConsumerDirectory([]);

  readonly #source: readonly Consumer[];
  readonly #keys = new Unambiguous<KeyOwner>();
  readonly #users = new Unambiguous<ConsumerUser>();
  /** By issuer, then by subject. */
  readonly #tokens = new Map<string, Unambiguous<ConsumerFacts>>();
  readonly #problems: Problem[] = [];

  private constructor(source: readonly Consumer[]) {
    this.#source = source;
  }

  /** Compiles in steps; `former` is used again where it was made of an equal list: then nothing of them differs. */
  static *of(consumers: readonly Consumer[], former?: ConsumerDirectory): Generator<void, CompiledConsumers> {
    if (consumers.length === 0) return { directory: ConsumerDirectory.none, problems: [] };
    if (former !== undefined && (yield* areEqual(former.#source, consumers)))
      return { directory: former, problems: former.#problems };
    const directory = new ConsumerDirectory(consumers);
    for (const [place, consumer] of consumers.entries()) {
      const facts = factsOf(consumer);
      for (const [at, credential] of (consumer.credentials ?? []).entries()) {
        const message = directory.#add(credential, facts);
        const pointer = pointerOf('consumers', consumer.id, 'credentials', at);
        if (message !== undefined) directory.#problems.push({ pointer, message });
      }
      if (place % stride === 0) yield;
    }
    return { directory, problems: directory.#problems };
  }

  /** Returns the consumer of a key as a client presents it. The time that it takes tells nothing about other keys. */
  ofKey(key: string): ConsumerFacts | undefined {
    if (this.#keys.size === 0) return undefined;
    const digest = hash('sha256', key, 'buffer');
    const found = this.#keys.get(placeOf(digest));
    return found !== undefined && timingSafeEqual(found.digest, digest) ? found.consumer : undefined;
  }

  ofUser(username: string): ConsumerUser | undefined {
    return this.#users.get(username);
  }

  /** Number of user names, and any of their passwords by place: unknown names cost as much as known ones. */
  get users(): readonly ConsumerUser[] {
    return this.#users.all;
  }

  /** Returns the consumer of a token that was verified. */
  ofToken(issuer: string, subject: unknown): ConsumerFacts | undefined {
    return typeof subject === 'string' ? this.#tokens.get(issuer)?.get(subject) : undefined;
  }

  /** Returns the problem of a credential that does not count. */
  #add(credential: ConsumerCredential, consumer: ConsumerFacts): string | undefined {
    const { type, key = '', username = '', passwordHash = '', issuer = '', subject = '' } = credential;
    switch (type) {
      case 'apiKey': {
        const digest = hashOfStoredKey(key);
        if (digest === undefined) return 'has a key that is not stored as its hash';
        return this.#keys.add(placeOf(digest), { digest, consumer }, consumer.id, 'key');
      }
      case 'basic': {
        const password = parsePasswordHash(passwordHash);
        if (typeof password === 'string') return `has a password that cannot be verified: it ${password}`;
        return this.#users.add(username, { consumer, password }, consumer.id, 'user name');
      }
      case 'jwt': {
        const subjects = this.#tokens.get(issuer) ?? new Unambiguous();
        this.#tokens.set(issuer, subjects);
        return subjects.add(subject, consumer, consumer.id, 'subject of that issuer');
      }
      default:
        return 'has a type that is not known';
    }
  }
}

function* areEqual(ones: readonly Consumer[], others: readonly Consumer[]): Generator<void, boolean> {
  if (ones === others) return true;
  if (ones.length !== others.length) return false;
  for (const [place, one] of ones.entries()) {
    if (!isDeepStrictEqual(one, others[place])) return false;
    if (place % stride === 0) yield;
  }
  return true;
}

const known = new WeakMap<Consumer, ConsumerFacts>();

function factsOf(consumer: Consumer): ConsumerFacts {
  const { id, name, labels = {} } = consumer;
  const facts = known.get(consumer) ?? { id, name, labels: new Map(Object.entries(labels)) };
  known.set(consumer, facts);
  return facts;
}
