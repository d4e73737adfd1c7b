// Session tickets of one listener with one policy for client certificates: no other can open them, for their keys are
// derived from its scope. All workers derive the same keys, so a session can be resumed in any of them.
import { hkdfSync } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import { Nonces } from '../nonces.ts';
import type { TicketSecrets } from '../shared/ticket-secrets.ts';
import { canonicalHost } from '../target/host.ts';
import type { ClientHello } from './client-hello.ts';
import { keyNameOf, serverNameIn } from './sealed-session.ts';

interface Keys {
  readonly name: Buffer;
  readonly hmac: Buffer;
  readonly aes: Buffer;
}

/**
 * Results for OpenSSL: the ticket is unknown, valid, or valid and to be replaced. Sluice's tickets always are:
 * clients of TLS 1.3 use each once (RFC 8446 §C.4), and OpenSSL gives them no new one otherwise.
 */
const unknown = 0;
const good = 1;
const renewed = 2;

type Answer = [verdict: number, hmac: Buffer, aes: Buffer, name?: Buffer, iv?: Buffer];

interface NativeContext {
  enableTicketKeyCallback(): void;
  onticketkeycallback(name: Buffer, iv: Buffer, sealing: boolean): Answer;
}

/** Reader of tickets of one listener. */
export interface TicketReader {
  /**
   * Returns false when a ticket of the hello is of another server name: its session must not be resumed (RFC 6066
   * §3).
   */
  allows(hello: ClientHello): boolean;
}

/** True while OpenSSL handles a hello whose sessions may be resumed. A second hello has not been checked. */
let mayOpen = false;

/** Returns whether the caller is within `openingTickets`. */
export const isOpeningTickets = (): boolean => mayOpen;

/** Calls `run`, which gives a hello to OpenSSL, whose tickets are opened during the call alone. */
export function openingTickets(run: () => void): void {
  mayOpen = true;
  try {
    run();
  } finally {
    mayOpen = false;
  }
}

/**
 * Makes tickets of `context` sealed and opened with keys of `scope`, whose words name the listener and its policy.
 */
export function useTicketKeys(context: SecureContext, secrets: TicketSecrets, scope: string): TicketReader {
  const derived = new DerivedKeys(secrets, scope);
  const native: NativeContext = context.context;
  native.enableTicketKeyCallback();
  native.onticketkeycallback = (name, _iv, sealing) => {
    const { current, former } = derived.now();
    if (sealing) return [good, current.hmac, current.aes, current.name, ivs.next()];
    if (!mayOpen) return [unknown, current.hmac, current.aes];
    if (name.equals(current.name)) return [renewed, current.hmac, current.aes];
    if (name.equals(former.name)) return [renewed, former.hmac, former.aes];
    return [unknown, current.hmac, current.aes];
  };
  const nameIn = (ticket: Buffer): string | undefined => {
    const { current, former } = derived.now();
    const key = [current, former].find(({ name }) => name.equals(keyNameOf(ticket)));
    return key && serverNameIn(ticket, key.aes);
  };
  return {
    allows({ serverName, tickets }) {
      const wanted = canonicalHost(serverName);
      return tickets.every((ticket) => {
        const name = nameIn(ticket);
        return name !== undefined && canonicalHost(name) === wanted;
      });
    },
  };
}

const ivBytes = 16;
const partBytes = 16;

const ivs = new Nonces(ivBytes);

class DerivedKeys {
  readonly #secrets: TicketSecrets;
  readonly #scope: string;
  #epoch: number;
  #keys: { readonly current: Keys; readonly former: Keys };

  constructor(secrets: TicketSecrets, scope: string) {
    this.#secrets = secrets;
    this.#scope = scope;
    this.#epoch = secrets.epoch;
    this.#keys = this.#derive();
  }

  now(): { readonly current: Keys; readonly former: Keys } {
    const { epoch } = this.#secrets;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#keys = this.#derive();
    }
    return this.#keys;
  }

  #derive(): { readonly current: Keys; readonly former: Keys } {
    const [current, former] = this.#secrets.read(this.#epoch);
    return { current: keysOf(current, this.#scope), former: keysOf(former, this.#scope) };
  }
}

function keysOf(secret: Buffer, scope: string): Keys {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', `session tickets ${scope}`, 3 * partBytes));
  const part = (at: number): Buffer => bytes.subarray(at * partBytes, (at + 1) * partBytes);
  return { name: part(0), hmac: part(1), aes: part(2) };
}
