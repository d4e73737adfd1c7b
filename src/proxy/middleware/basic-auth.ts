// Middleware type basicAuth (contract.md §8.10): only requests with the name and the password of a user pass. Verified
// credentials are kept by a keyed hash, so that a password is hashed once; unknown names cost as much as known ones.
import { createHmac, randomBytes } from 'node:crypto';
import { basicAuthDefaults } from '../../model/defaults.ts';
import { parseHtpasswd } from '../../model/htpasswd.ts';
import type { BasicAuthConfig } from '../../model/middleware/basic-auth-options.ts';
import type { PasswordHash } from '../../model/password-hash.ts';
import type { LocalReply, MiddlewareExchange, MiddlewarePhases, MiddlewareResult } from '../exchange/phase.ts';
import { fieldText } from '../fields/field-lines.ts';
import { PasswordChecks } from './basic-auth/password-checks.ts';
import { onePerWorker } from './instances.ts';
import { VerifiedTokens } from './jwt/verified-tokens.ts';
import { type ProtectedHeaders, protectedHeaders } from './protected-headers.ts';
import { rejection } from './rejection.ts';
import type { MiddlewareServices } from './services.ts';

/** Passwords that one process hashes at a time, and those that wait. */
const atOnceMax = 2;
const waitingMax = 256;
/** Bytes of a decoded `name:password`. */
const credentialBytesMax = 1024;

type Services = Pick<MiddlewareServices, 'share'>;

const checksOf = onePerWorker(
  ({ share }: Services) => new PasswordChecks(Math.max(1, share(atOnceMax)), Math.max(1, share(waitingMax))),
);

interface Plan {
  readonly users: ReadonlyMap<string, PasswordHash>;
  /** Hashes by which unknown names are checked. */
  readonly hashes: readonly PasswordHash[];
  readonly forwards: boolean;
  readonly userHeader: string | undefined;
  readonly claimed: ProtectedHeaders | undefined;
  readonly missing: LocalReply;
  readonly wrong: LocalReply;
}

/** Builds the middleware. Throws when a user cannot be read: the message names the line. */
export function buildBasicAuth(config: BasicAuthConfig): (services: Services) => MiddlewarePhases {
  const users = parseHtpasswd(config.users);
  if (typeof users === 'string') throw new Error(`users ${users}`);
  const { userHeader, realm = basicAuthDefaults.realm } = config;
  const quoted = fieldText(realm).replace(/["\\]/g, '\\$&');
  const challenge = ['WWW-Authenticate', `Basic realm="${quoted}", charset="UTF-8"`];
  const plan: Plan = {
    users,
    hashes: [...users.values()],
    forwards: config.forwardAuthorization ?? basicAuthDefaults.forwardAuthorization,
    userHeader,
    claimed: userHeader === undefined ? undefined : protectedHeaders([userHeader]),
    missing: rejection(401, 'missing credentials', challenge),
    wrong: rejection(401, 'invalid credentials', challenge),
  };
  return (services) => new BasicAuth(plan, checksOf(services));
}

class BasicAuth implements MiddlewarePhases {
  readonly #plan: Plan;
  readonly #checks: PasswordChecks;
  readonly #key = randomBytes(32);
  /** Names by keyed hash of their credentials. */
  readonly #verified = new VerifiedTokens<string>();

  constructor(plan: Plan, checks: PasswordChecks) {
    this.#plan = plan;
    this.#checks = checks;
  }

  onRequest(exchange: MiddlewareExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult> {
    const { missing, wrong, users } = this.#plan;
    const authorization = exchange.request.header('authorization');
    if (authorization === undefined) return missing;
    const credentials = credentialsOf(authorization);
    if (credentials === undefined) return wrong;
    const key = this.#hashOf(credentials.bytes);
    const known = this.#verified.get(key, credentials.bytes.length);
    if (known !== undefined) return this.#admit(exchange, known);
    const { name, password, bytes } = credentials;
    const hash = users.get(name);
    const checked = this.#checks.check(key, password, hash ?? this.#hashFor(name));
    if (checked === undefined) return busy;
    return this.#resumeAfter(exchange, slot, checked, (isRight) => {
      if (!isRight || hash === undefined) return wrong;
      this.#verified.add(key, bytes.length, name);
      return this.#admit(exchange, name);
    });
  }

  onSkip(exchange: MiddlewareExchange): void {
    this.#plan.claimed?.stripClientHeaders(exchange);
  }

  /** Decides after a wait, if the exchange is still the same one: it is used again for other requests. */
  async #resumeAfter(
    exchange: MiddlewareExchange,
    slot: number,
    checked: Promise<boolean>,
    decide: (isRight: boolean) => MiddlewareResult,
  ): Promise<MiddlewareResult> {
    const ticket = {};
    exchange.state[slot] = ticket;
    const isRight = await checked;
    return exchange.state[slot] === ticket ? decide(isRight) : undefined;
  }

  #admit(exchange: MiddlewareExchange, name: string): undefined {
    const { forwards, claimed, userHeader } = this.#plan;
    if (!forwards) exchange.removeRequestField('Authorization');
    claimed?.strip(exchange);
    if (userHeader !== undefined) exchange.setRequestField(userHeader, fieldText(name));
  }

  #hashOf(bytes: Buffer): string {
    return createHmac('sha256', this.#key).update(bytes).digest('base64url');
  }

  /** The hash of some user, always the same one for a name that is unknown. */
  #hashFor(name: string): PasswordHash {
    const { hashes } = this.#plan;
    const at = createHmac('sha256', this.#key).update('name').update(name).digest().readUInt32BE() % hashes.length;
    const hash = hashes[at];
    if (hash === undefined) throw new Error('there are no users');
    return hash;
  }
}

interface Credentials {
  /** `name:password`. */
  readonly bytes: Buffer;
  readonly name: string;
  readonly password: Buffer;
}

/** RFC 7617 §2. Several lines are joined by a comma, which is in no Base64: they are no credentials. */
const basic = /^basic +([A-Za-z0-9+/]+={0,2})$/i;

function credentialsOf(authorization: string): Credentials | undefined {
  const [, encoded] = basic.exec(authorization) ?? [];
  if (encoded === undefined || encoded.length > 2 * credentialBytesMax) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(0x3a);
  // bcrypt would read a password up to a NUL alone.
  if (colon < 0 || bytes.length > credentialBytesMax || bytes.includes(0)) return undefined;
  return { bytes, name: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}

const busy = rejection(503, 'too many credentials to verify', ['Retry-After', '1']);
