// Dialled addresses of this node: those of the members, and hints from settings or discovery. A hint finds members
// whose recorded address is out of date, and shows when it leads to another cluster.
import type { TcpLink } from './tcp-link.ts';

export class PeerLinks {
  readonly #open: (address: string) => TcpLink | undefined;
  readonly #links = new Map<string, TcpLink>();
  #members: ReadonlySet<string> = new Set();
  #hints: ReadonlySet<string> = new Set();

  /** `open` begins to dial; undefined for what is no address, or this node's own. */
  constructor(open: (address: string) => TcpLink | undefined) {
    this.#open = open;
  }

  setMembers(addresses: readonly string[]): void {
    this.#members = new Set(addresses);
    this.#reconcile();
  }

  setHints(addresses: readonly string[]): void {
    this.#hints = new Set(addresses);
    this.#reconcile();
  }

  /** Hangs up and dials again, so that all greetings are fresh. */
  redial(): void {
    this.#hangUp(() => true);
    this.#reconcile();
  }

  close(): void {
    this.#members = this.#hints = new Set();
    this.#hangUp(() => true);
  }

  #reconcile(): void {
    const wanted = new Set([...this.#members, ...this.#hints]);
    this.#hangUp((address) => !wanted.has(address));
    for (const address of wanted) {
      if (this.#links.has(address)) continue;
      const link = this.#open(address);
      if (link !== undefined) this.#links.set(address, link);
    }
  }

  #hangUp(unwanted: (address: string) => boolean): void {
    for (const [address, link] of this.#links) {
      if (!unwanted(address)) continue;
      this.#links.delete(address);
      link.close();
    }
  }
}
