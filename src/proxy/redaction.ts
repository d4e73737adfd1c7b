// Redaction of messages of the data plane (contract.md §1.6): the address of a listener, the path of a log and the host
// of a destination may come from a secret, and then appear in the system's own messages; its value is masked there.
import type { ProxyConfig } from '../model/proxy-config.ts';
import { secretTextsOf, withoutTexts } from '../model/secret-texts.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ListenerStatus } from './listener/listeners.ts';

/** Role of a configuration in the data plane: `next` becomes `live`. */
type Role = 'live' | 'next' | 'candidate';

/** Roles with those before them, whose requests may end after their configuration. */
type KnownRole = Role | 'former' | 'formerCandidate';

type Fields = Readonly<Record<string, unknown>>;

export class Redaction {
  readonly #texts = new Map<KnownRole, readonly string[]>();

  /** From now on strings of `config` that came from secrets are masked; undefined: there is none in this role. */
  learn(role: Role, config: ProxyConfig | undefined): void {
    const former = this.#texts.get('candidate') ?? [];
    if (role === 'candidate' && former.length > 0) this.#texts.set('formerCandidate', former);
    this.#texts.set(role, config === undefined ? [] : secretTextsOf(config));
  }

  /** Makes `next` the live configuration; the one before it is known until then. */
  settle(): void {
    this.#texts.set('former', this.#texts.get('live') ?? []);
    this.#texts.set('live', this.#texts.get('next') ?? []);
  }

  text(text: string): string {
    let masked = text;
    for (const texts of this.#texts.values()) masked = withoutTexts(masked, texts);
    return masked;
  }

  listener(status: ListenerStatus): ListenerStatus {
    const { address, reason } = status;
    const masked = { ...status, address: this.text(address) };
    return reason === undefined ? masked : { ...masked, reason: this.text(reason) };
  }

  /** The same logger for lines whose fields are masked; messages are the program's own. */
  logger(logger: Logger): Logger {
    return {
      debug: (fields, message) => logger.debug(this.#fields(fields), message),
      info: (fields, message) => logger.info(this.#fields(fields), message),
      warn: (fields, message) => logger.warn(this.#fields(fields), message),
      error: (fields, message) => logger.error(this.#fields(fields), message),
      child: (fields) => this.logger(logger.child(this.#fields(fields))),
    };
  }

  #fields(fields: Fields): Fields {
    const entries = Object.entries(fields);
    return Object.fromEntries(entries.map(([name, value]) => [name, this.#value(value)]));
  }

  #value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    return Array.isArray(value) ? value.map((each) => this.#value(each)) : value;
  }
}
