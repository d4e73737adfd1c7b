// Redaction of messages of the data plane (contract.md §1.6): the address of a listener, the path of a log and the host
// of a destination may come from a secret, and then appear in the system's own messages; its value is masked there.
import type { ProxyConfig } from '../model/proxy-config.ts';
import { secretTextsOf, withoutTexts } from '../model/secret-texts.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { ListenerStatus } from './listener/listeners.ts';

/** Role of a configuration in the data plane: `next` becomes `live`. */
type Role = 'live' | 'next' | 'candidate';

type Fields = Readonly<Record<string, unknown>>;

export class Redaction {
  readonly #texts = new Map<Role, readonly string[]>();
  /** Texts of the configurations before: their traffic may end after them. */
  readonly #former = new Map<Role, readonly string[]>();

  /** From now on strings of `config` that came from secrets are masked; undefined: there is none in this role. */
  learn(role: Role, config: ProxyConfig | undefined): void {
    if (role === 'candidate') this.#keep(role);
    this.#texts.set(role, config === undefined ? [] : secretTextsOf(config));
  }

  /** Makes `next` the live configuration and forgets the one before it. */
  settle(): void {
    this.#keep('live');
    this.#texts.set('live', this.#texts.get('next') ?? []);
  }

  text(text: string): string {
    let masked = text;
    for (const texts of this.#texts.values()) masked = withoutTexts(masked, texts);
    return masked;
  }

  /** Masks a text of traffic, which may be that of the configuration before. */
  trafficText(text: string): string {
    let masked = this.text(text);
    for (const texts of this.#former.values()) masked = withoutTexts(masked, texts);
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

  #keep(role: Role): void {
    const texts = this.#texts.get(role) ?? [];
    if (texts.length > 0 || role === 'live') this.#former.set(role, texts);
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
