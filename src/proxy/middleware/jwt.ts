// Middleware type jwt (contract.md §8.4): only requests with a valid token pass, and claims of the token go on as
// headers that the client cannot set itself.

import { type CelProgram, compileCel, type ResultKind } from '../../expression/cel/compiled-program.ts';
import type { ClaimsInput } from '../../expression/cel/roots.ts';
import { jwtDefaults } from '../../model/defaults.ts';
import type { JwtConfig } from '../../model/middleware/jwt-options.ts';
import type { Clock } from '../../util/clock.ts';
import type { LocalReply, LoneExchange, LonePhases, MiddlewarePhases, MiddlewareResult } from '../exchange/phase.ts';
import { valueText } from '../fields/field-lines.ts';
import { durationMs } from '../parsed-duration.ts';
import { claimText } from './jwt/claim-text.ts';
import { isCurrent, isMeantForUs, lifetimeOf } from './jwt/claims.ts';
import { parseToken, type Token } from './jwt/json-web-token.ts';
import { inlineKeys, type KeySource } from './jwt/key-source.ts';
import { isSignedBy, namesUnknownKey } from './jwt/signature.ts';
import { type Lifetime, VerifiedTokens } from './jwt/verified-tokens.ts';
import { PoolTurns } from './pool-turns.ts';
import { type ProtectedHeaders, protectedHeaders } from './protected-headers.ts';
import { rejection } from './rejection.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Result for a token whose signature, issuer and audience are good. */
interface Verified extends Lifetime {
  readonly claims: Claims;
  /** Version of the keys that verified it. */
  readonly keys: number;
  /** Assertions that do not ask for the time are true. */
  readonly holds: boolean;
  /** One per claimToHeaders; undefined for those that ask for the time, and for those that set nothing. */
  readonly values: readonly (string | undefined)[];
}

/**
 * Builds the middleware. Throws when an expression does not compile, or no issuer is named: any token would be good.
 */
export function buildJwt(
  config: JwtConfig,
): (source: KeySource, clock: Clock, slowTurns?: PoolTurns) => MiddlewarePhases {
  const plan = compilePlan(config);
  return (source, clock, slowTurns = new PoolTurns(1)) => new Jwt(plan, source, clock, slowTurns);
}

/** Returns the source of the keys; `fetched` gives those that main fetches. Throws when there are none to be had. */
export function keySourceOf(config: JwtConfig): (fetched: (withinMs: number) => KeySource) => KeySource {
  const { jwksInline, jwksPath, jwksRetrievalTimeout } = config;
  if (jwksInline === undefined && jwksPath === undefined) throw new Error('must have one of jwksPath, jwksInline');
  if (jwksInline !== undefined && jwksPath !== undefined) throw new Error('must not have both jwksPath and jwksInline');
  if (jwksInline === undefined) {
    const withinMs = durationMs(jwksRetrievalTimeout, jwtDefaults.jwksRetrievalTimeout);
    return (fetched) => fetched(withinMs);
  }
  const source = inlineKeys(jwksInline);
  return () => source;
}

interface Plan {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly assertions: readonly Expression[];
  readonly headers: readonly { readonly name: string; readonly expression: Expression }[];
  readonly claimed: ProtectedHeaders;
  /** The Authorization header goes on. */
  readonly forwards: boolean;
}

function compilePlan(config: JwtConfig): Plan {
  const { issuer, audiences = [], assertClaims = [], claimToHeaders = [] } = config;
  if (typeof issuer !== 'string' || issuer === '') throw new Error('issuer is required');
  return {
    issuer,
    audiences,
    assertions: assertClaims.map((text) => expressionOf(text, 'bool')),
    headers: claimToHeaders.map(({ expr, header }) => ({ name: header, expression: expressionOf(expr, 'any') })),
    claimed: protectedHeaders(claimToHeaders.map(({ header }) => header)),
    forwards: config.forwardJwt ?? jwtDefaults.forwardJwt,
  };
}

class Jwt implements MiddlewarePhases {
  readonly alone: LonePhases = this;
  readonly #plan: Plan;
  readonly #source: KeySource;
  readonly #clock: Clock;
  readonly #slowTurns: PoolTurns;
  readonly #verified = new VerifiedTokens<Verified>();

  constructor(plan: Plan, source: KeySource, clock: Clock, slowTurns: PoolTurns) {
    this.#plan = plan;
    this.#source = source;
    this.#clock = clock;
    this.#slowTurns = slowTurns;
  }

  onRequest(exchange: LoneExchange, slot: number): MiddlewareResult | Promise<MiddlewareResult> {
    const authorization = exchange.request.header('authorization');
    const text = authorization === undefined ? '' : bearerToken(authorization);
    if (text === '') return unauthorized['missing authorization token'];
    const hash = this.#verified.keyOf(text);
    const known = this.#verified.get(hash, text.length);
    if (known !== undefined && known.keys === this.#source.version) return this.#admit(exchange, known);
    const token = parseToken(text);
    if (typeof token === 'string') return unauthorized[token];
    if (!this.#isPlausible(token)) return unauthorized['token validation failed'];
    const signed = this.#isSigned(token);
    const decide = (good: boolean): MiddlewareResult => {
      if (!good) return unauthorized['token validation failed'];
      const verified = this.#evaluate(token.claims);
      this.#verified.add(hash, text.length, verified);
      return this.#admit(exchange, verified);
    };
    return typeof signed === 'boolean' ? decide(signed) : this.#resumeAfter(exchange, slot, signed, decide);
  }

  onSkip(exchange: LoneExchange): void {
    this.#plan.claimed.stripClientHeaders(exchange);
  }

  /** Decides after a wait, if the exchange is still the same one: it is used again for other requests. */
  async #resumeAfter(
    exchange: LoneExchange,
    slot: number,
    signed: Promise<boolean>,
    decide: (good: boolean) => MiddlewareResult,
  ): Promise<MiddlewareResult> {
    const ticket = {};
    exchange.state[slot] = ticket;
    const good = await signed;
    return exchange.state[slot] === ticket ? decide(good) : undefined;
  }

  /** Everything but the signature, which costs most. */
  #isPlausible({ hasCritical, claims }: Token): boolean {
    const lifetime = lifetimeOf(claims);
    return (
      !hasCritical &&
      lifetime !== undefined &&
      isCurrent(lifetime, this.#nowSeconds()) &&
      isMeantForUs(claims, this.#plan.issuer, this.#plan.audiences)
    );
  }

  #isSigned(token: Token): boolean | Promise<boolean> {
    const { keys } = this.#source;
    if (keys === undefined) return this.#isSignedOnceFetched(token);
    const signed = isSignedBy(token, keys, this.#slowTurns);
    if (signed !== false) return signed;
    if (keys.length > 0 && !namesUnknownKey(token, keys)) return false;
    const news = this.#source.refetched();
    return news === undefined ? false : news.then(() => isSignedBy(token, this.#source.keys ?? [], this.#slowTurns));
  }

  async #isSignedOnceFetched(token: Token): Promise<boolean> {
    await this.#source.fetched();
    return isSignedBy(token, this.#source.keys ?? [], this.#slowTurns);
  }

  #evaluate(claims: Claims): Verified {
    const input = { claims, now: this.#nowSeconds() };
    return {
      ...(lifetimeOf(claims) ?? { notBefore: 0, expires: 0 }),
      claims,
      keys: this.#source.version,
      holds: this.#plan.assertions.every(({ program, asksTime }) => asksTime || program.decide(input) === true),
      values: this.#plan.headers.map(({ expression }) => (expression.asksTime ? undefined : textOf(expression, input))),
    };
  }

  #admit(exchange: LoneExchange, verified: Verified): LocalReply | undefined {
    const { issuer, assertions, headers, claimed, forwards } = this.#plan;
    const now = this.#nowSeconds();
    if (!isCurrent(verified, now)) return unauthorized['token validation failed'];
    const input = { claims: verified.claims, now };
    const fails = ({ asksTime, program }: Expression): boolean => asksTime && program.decide(input) !== true;
    if (!verified.holds || assertions.some(fails)) return assertionFailed;
    // A claim may take its place.
    if (!forwards) exchange.removeRequestField('Authorization');
    exchange.request.consumer = exchange.consumers.ofToken(issuer, verified.claims.sub) ?? exchange.request.consumer;
    claimed.strip(exchange);
    for (let i = 0; i < headers.length; i++) {
      const header = headers[i];
      if (header === undefined) break;
      const { name, expression } = header;
      const value = expression.asksTime ? textOf(expression, input) : verified.values[i];
      if (value !== undefined) exchange.setRequestField(name, value);
    }
    return undefined;
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.nowMs() / 1000);
  }
}

/**
 * Token behind `Bearer`, in any case, and blanks (RFC 9110 §11.1, §11.4); empty when that is not there. Of several lines
 * it is no token: a backend might read another one than was verified.
 */
const bearerToken = (authorization: string): string => bearer.exec(authorization)?.[1] ?? '';
const bearer = /^bearer +(.*)$/is;

const failures = [
  'missing authorization token',
  'invalid token format',
  'invalid token header',
  'invalid token claims',
  'invalid token signature',
  'token validation failed',
] as const;

const challenge = (message: string): LocalReply => rejection(401, message, ['WWW-Authenticate', 'Bearer']);

const unauthorized = Object.fromEntries(failures.map((message) => [message, challenge(message)])) as Readonly<
  Record<(typeof failures)[number], LocalReply>
>;

const assertionFailed = rejection(403, 'claim assertion failed');

interface Expression {
  readonly program: CelProgram<ClaimsInput>;
  /** Its value may change while the token stays the same. */
  readonly asksTime: boolean;
}

const expressionOf = (text: string, result: ResultKind): Expression => ({
  program: compileCel(text, 'claims', result),
  asksTime: /\bnow\b/.test(text),
});

function textOf({ program }: Expression, input: ClaimsInput): string | undefined {
  const text = claimText(program.value(input));
  return text === undefined ? undefined : valueText(text) || undefined;
}
