// TLS terminators of all listeners of a thread, made beside running traffic and kept for as long as their listener is
// the same object: a worker reads an unchanged listener once.

import type { Listener } from '../../model/listener.ts';
import { passesThrough } from '../../model/listener-place.ts';
import type { ListenerTls } from '../../model/listener-tls.ts';
import { type Problem, pointerOf } from '../../model/problem.ts';
import type { Configuration } from '../../model/proxy-config.ts';
import type { Clock } from '../../util/clock.ts';
import { inSlices } from '../compile-slices.ts';
import type { TicketSecrets } from '../shared/ticket-secrets.ts';
import { type CheckedMaterial, checkMaterial, type ListenerMaterial } from './listener-material.ts';
import { reasonOf } from './pem.ts';
import { TlsTerminator } from './terminator.ts';
import { uncoveredHosts } from './uncovered-hosts.ts';

export interface Terminated {
  /** Absent when the listener cannot open; the first warning gives the reason. */
  readonly terminator: TlsTerminator | undefined;
  /** Pointers name entities by id. */
  readonly warnings: readonly Problem[];
}

export class Terminators {
  readonly #known = new WeakMap<Listener, Terminated>();
  readonly #clock: Clock;
  readonly #secrets: TicketSecrets;

  constructor(clock: Clock, secrets: TicketSecrets) {
    this.#clock = clock;
    this.#secrets = secrets;
  }

  /** Makes the missing ones of the list, in time slices. */
  async prepare(listeners: readonly Listener[]): Promise<void> {
    for (const listener of listeners) {
      if (!isSecured(listener) || this.#known.has(listener)) continue;
      this.#known.set(listener, this.#make(listener, await inSlices(checkMaterial(listener, this.#clock.nowMs()))));
    }
  }

  /** Returns the terminator of a listener with TLS that was prepared. */
  of(listener: Listener): Terminated | undefined {
    return this.#known.get(listener);
  }

  #make(listener: SecuredListener, { material, warnings }: CheckedMaterial): Terminated {
    if (material === undefined) return { terminator: undefined, warnings };
    try {
      return { terminator: new TlsTerminator(listener.tls, material, this.#secrets, protocolsOf(listener)), warnings };
    } catch (error) {
      const pointer = pointerOf('listeners', listener.id, 'tls');
      const message = `cannot be used: ${reasonOf(error)}: the listener stays closed`;
      return { terminator: undefined, warnings: [{ pointer, message }, ...warnings] };
    }
  }
}

type SecuredListener = Listener & { readonly tls: ListenerTls };

const isSecured = (listener: Listener): listener is SecuredListener =>
  listener.tls !== undefined && !passesThrough(listener);

/** Returns the problems of the listeners' TLS, as a proxy would find them now. */
export async function listenerProblems(configuration: Configuration, nowMs: number): Promise<Problem[]> {
  const warnings: Problem[] = [];
  const usable: { readonly id: string; readonly material: ListenerMaterial }[] = [];
  for (const listener of configuration.listeners.filter(isSecured)) {
    const judged = await inSlices(checkMaterial(listener, nowMs));
    warnings.push(...judged.warnings);
    if (judged.material !== undefined) usable.push({ id: listener.id, material: judged.material });
  }
  return [...warnings, ...uncoveredHosts(configuration, usable)];
}

/**
 * Returns the protocols for ALPN, the preferred first; none where clients and upstreams alone know theirs. proxy-listener.ts chooses the connection class by the result.
 */
const protocolsOf = ({ protocol, http2 }: Listener): readonly string[] => {
  if (protocol === 'tcp') return [];
  return http2 === true ? ['h2', 'http/1.1'] : ['http/1.1'];
};
