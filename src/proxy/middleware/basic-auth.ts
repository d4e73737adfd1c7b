// Middleware type basicAuth (contract.md §8.10): only requests with the name and the password of a user pass. Verified
// credentials are kept by a keyed hash, so that a password is hashed once; unknown names cost as much as known ones.
import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ConsumerFacts } from '../../expression/cel/value-view.ts';
import { basicAuthDefaults } from '../../model/defaults.ts';
import { parseHtpasswd } from '../../model/htpasswd.ts';
import type { BasicAuthConfig } from '../../model/middleware/basic-auth-options.ts';
import { type PasswordHash, passwordHashText } from '../../model/password-hash.ts';
import type { ConsumerDirectory, ConsumerUser } from '../consumers/consumer-directory.ts';
import type {
  LocalReply,
  LoneExchange,
  LonePhases,
  MiddlewareExchange,
  MiddlewarePhases,
  MiddlewareResult,
} from '../exchange/phase.ts';
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

/** Credentials that were verified, and by which hashes: those of consumers change with other activations. */
interface Verified {
  readonly password: PasswordHash;
  /** Hash of the consumer of that name, if there is one. */
  readonly ofConsumer: PasswordHash | undefined;
  /** True when the password is that of the consumer. */
  readonly isConsumer: boolean;
}

interface Plan {
  readonly users: ReadonlyMap<string, PasswordHash>;
  /** Consumers are let in too. */
  readonly admitsConsumers: boolean;
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
  const { consumers: admitsConsumers = basicAuthDefaults.consumers } = config;
  if (config.users === undefined && !admitsConsumers) throw new Error('users is required unless consumers is true');
  const users = config.users === undefined ? new Map<string, PasswordHash>() : parseHtpasswd(config.users);
  if (typeof users === 'string') throw new Error(`users ${users}`);
  const { userHeader, realm = basicAuthDefaults.realm } = config;
  const quoted = fieldText(realm).replace(/["\\]/g, '\\$&');
  const challenge = ['WWW-Authenticate', `Basic realm="${quoted}", charset="UTF-8"`];
  const plan: Plan = {
    users,
    admitsConsumers,
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
  /** By keyed hash of the credentials. */
  readonly #verified = new VerifiedTokens<Verified>();
  readonly alone: LonePhases = {
    onRequest: (exchange) => this.#decideAlone(exchange),
    onSkip: (exchange) => this.onSkip(exchange),
  };

  constructor(plan: Plan, checks: PasswordChecks) {
    this.#plan = plan;
    this.#checks = checks;
  }

  onRequest(exchange: MiddlewareExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult> {
    const { wrong } = this.#plan;
    const credentials = this.#credentialsOf(exchange);
    if ('status' in credentials) return credentials;
    const { name, bytes } = credentials;
    const user = exchange.consumers.ofUser(name);
    const wanted = this.#wantedOf(name, user);
    const key = this.#hashOf(bytes);
    const known = this.#verifiedBy(key, bytes, wanted, user);
    if (known !== undefined) {
      exchange.tally(slot, 'basicAuthVerifications', 'known', 1);
      return this.#admit(exchange, name, known.isConsumer ? user?.consumer : undefined);
    }
    const password = wanted ?? this.#hashFor(name, exchange.consumers);
    if (password === undefined) return wrong;
    return this.#resumeAfter(exchange, slot, this.#verify(key, credentials, password, user?.password), (verified) => {
      const isRight = verified !== undefined && wanted !== undefined;
      const result = verified === 'busy' ? 'busy' : isRight ? 'verified' : 'wrong';
      exchange.tally(slot, 'basicAuthVerifications', result, 1);
      if (verified === 'busy') return busy;
      if (verified === undefined || wanted === undefined) return wrong;
      this.#verified.add(key, bytes.length, verified);
      return this.#admit(exchange, name, verified.isConsumer ? user?.consumer : undefined);
    });
  }

  onSkip(exchange: LoneExchange): void {
    this.#plan.claimed?.stripClientHeaders(exchange);
  }

  /** Decides by what has been verified before; no password is hashed. */
  #decideAlone(exchange: LoneExchange): LocalReply | undefined {
    const credentials = this.#credentialsOf(exchange);
    if ('status' in credentials) return credentials;
    const { name, bytes } = credentials;
    const user = exchange.consumers.ofUser(name);
    const wanted = this.#wantedOf(name, user);
    if (wanted === undefined) return this.#plan.wrong;
    const known = this.#verifiedBy(this.#hashOf(bytes), bytes, wanted, user);
    const isOfUser = user === undefined || isDeepStrictEqual(user.password, wanted);
    const compared = (isOfUser ? [wanted] : [wanted, user.password]).map(passwordHashText).join('\n');
    // The second of two hashes tells whether it is the consumer: no other verification answers for this one.
    const isOpen = known === undefined && !isOfUser;
    exchange.notePassword?.(isOpen ? `${compared}\n` : compared, known !== undefined);
    const isConsumer = known?.isConsumer ?? isOfUser;
    return this.#admit(exchange, name, isConsumer ? user?.consumer : undefined);
  }

  #credentialsOf({ request }: LoneExchange): Credentials | LocalReply {
    const { missing, wrong } = this.#plan;
    const authorization = request.header('authorization');
    return authorization === undefined ? missing : (credentialsOf(authorization) ?? wrong);
  }

  /** Returns the hash of a user's password; undefined: the user is not known. */
  #wantedOf(name: string, user: ConsumerUser | undefined): PasswordHash | undefined {
    const { users, admitsConsumers } = this.#plan;
    return users.get(name) ?? (admitsConsumers ? user?.password : undefined);
  }

  #verifiedBy(
    key: string,
    { length }: Buffer,
    wanted: PasswordHash | undefined,
    user: ConsumerUser | undefined,
  ): Verified | undefined {
    const known = this.#verified.get(key, length);
    return known !== undefined && known.password === wanted && known.ofConsumer === user?.password ? known : undefined;
  }

  /** Decides after a wait, if the exchange is still the same one: it is used again for other requests. */
  async #resumeAfter(
    exchange: MiddlewareExchange,
    slot: number,
    checked: Promise<Verified | 'busy' | undefined>,
    decide: (verified: Verified | 'busy' | undefined) => MiddlewareResult,
  ): Promise<MiddlewareResult> {
    const ticket = {};
    exchange.state[slot] = ticket;
    const verified = await checked;
    return exchange.state[slot] === ticket ? decide(verified) : undefined;
  }

  /** Verifies a password, and then whether it is that of the consumer of the same name. Undefined: it is wrong. */
  async #verify(
    key: string,
    { password }: Credentials,
    wanted: PasswordHash,
    ofConsumer: PasswordHash | undefined,
  ): Promise<Verified | 'busy' | undefined> {
    const isRight = this.#check(key, password, wanted);
    if (isRight === undefined) return 'busy';
    if (!(await isRight)) return undefined;
    if (ofConsumer === undefined || isDeepStrictEqual(ofConsumer, wanted))
      return { password: wanted, ofConsumer, isConsumer: ofConsumer !== undefined };
    const isConsumer = this.#check(key, password, ofConsumer);
    return isConsumer === undefined ? 'busy' : { password: wanted, ofConsumer, isConsumer: await isConsumer };
  }

  #check(key: string, password: Buffer, hash: PasswordHash): Promise<boolean> | undefined {
    return this.#checks.check(`${key} ${hash.hash.toString('base64')}`, password, hash);
  }

  #admit(exchange: LoneExchange, name: string, consumer: ConsumerFacts | undefined): undefined {
    const { forwards, claimed, userHeader } = this.#plan;
    if (!forwards) exchange.removeRequestField('Authorization');
    if (consumer !== undefined) exchange.request.consumer = consumer;
    claimed?.strip(exchange);
    if (userHeader !== undefined) exchange.setRequestField(userHeader, fieldText(name));
  }

  #hashOf(bytes: Buffer): string {
    return createHmac('sha256', this.#key).update(bytes).digest('base64url');
  }

  /** Returns the hash of some user, always the same one for a name that is unknown; undefined where there are no users. */
  #hashFor(name: string, consumers: ConsumerDirectory): PasswordHash | undefined {
    const { hashes, admitsConsumers } = this.#plan;
    const further = admitsConsumers ? consumers.users : [];
    const count = hashes.length + further.length;
    if (count === 0) return undefined;
    const at = createHmac('sha256', this.#key).update('name').update(name).digest().readUInt32BE() % count;
    return hashes[at] ?? further[at - hashes.length]?.password;
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
