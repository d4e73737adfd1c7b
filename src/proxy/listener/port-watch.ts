// Port watch: listeners that are not open are logged once, and once more when they open. The obstacle — another
// process on the port, a missing address — may end at any time, so the port is tried again every two seconds.

import type { Logger } from '../../telemetry/logger.ts';
import type { Cancel, Clock } from '../../util/clock.ts';
import type { ListenerStatus } from './listeners.ts';

export interface WatchedPorts {
  listeners(): readonly ListenerStatus[];
  /** Tries to open waiting listeners. */
  reopen(): Promise<void>;
}

const againMs = 2_000;

export class PortWatch {
  readonly #ports: WatchedPorts;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Logged reason of each listener that is not open, by its id. */
  #logged = new Map<string, string>();
  #cancel: Cancel = () => {};
  #ended = false;

  constructor(ports: WatchedPorts, clock: Clock, logger: Logger) {
    this.#ports = ports;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Logs changes, now and from here on every two seconds. Called after each activation. */
  look(): void {
    const said = new Map<string, string>();
    for (const status of this.#ports.listeners()) this.#note(status, said);
    this.#logged = said;
    this.#cancel();
    if (!this.#ended) this.#cancel = this.#clock.after(againMs, () => void this.#tryAgain());
  }

  end(): void {
    this.#ended = true;
    this.#cancel();
  }

  #note({ id, name, address, port, state, reason = '' }: ListenerStatus, said: Map<string, string>): void {
    const before = this.#logged.get(id);
    const about = { listener: name, address, port };
    if (state === 'open') {
      if (before !== undefined) this.#logger.info(about, 'a listener is open now');
      return;
    }
    const now = `${address}:${port} ${reason}`;
    said.set(id, now);
    if (before === now) return;
    this.#logger.warn(
      { ...about, reason },
      state === 'waiting' ? 'a listener cannot open and is tried again every 2 s' : 'a listener stays closed',
    );
  }

  async #tryAgain(): Promise<void> {
    await this.#ports.reopen();
    this.look();
  }
}
