// Recorded request, presented to the routing table of another configuration as it was to the one that served it. What the
// record lacks is noted when it is asked for.
import type { ListenerFacts, RequestTls } from '../../expression/cel/value-view.ts';
import { parametersOf } from '../../expression/cel/value-view.ts';
import type { RecordedBatch, RecordedRequest } from '../../model/recent-request.ts';
import type { ExplainedListener } from '../explain/explained-listener.ts';
import { fieldText } from '../fields/field-lines.ts';
import type { RankedEntry } from '../match/route-entry.ts';
import type { RoutedRequest, ServedSection } from '../message/routed-request.ts';
import { headerMax } from '../requests/request-ring.ts';
import { type Recorded, type RecordedFacts, RecordedView, unknown } from './recorded-view.ts';

/** Names of which a process records the values. */
export type RecordedNames = Pick<RecordedBatch, 'headers' | 'query'>;

export class ReplayedRequest implements RoutedRequest, RecordedFacts {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly path: string;
  /** Its parameters are asked for by name. */
  readonly query = '';
  readonly section: ServedSection | undefined;
  readonly view: RecordedView;
  /** Entries that need what is not recorded, and are taken not to match. */
  readonly passedOver = new Set<RankedEntry>();
  readonly #record: RecordedRequest;
  readonly #names: RecordedNames;
  #parameters: readonly string[] | undefined;

  /** @param on listener of the configuration that is asked; undefined: it has none for the request. */
  constructor(record: RecordedRequest, names: RecordedNames, on: ExplainedListener | undefined) {
    this.#record = record;
    this.#names = names;
    this.method = record.method;
    this.scheme = record.scheme;
    this.host = record.host;
    this.path = record.path;
    this.section = on?.sectionOf(record.host);
    this.view = new RecordedView(this);
  }

  get id(): string {
    return this.view.lacks('id');
  }

  /** The port is not recorded. */
  get authority(): string {
    return this.view.lacks('header host');
  }

  get clientIp(): string {
    return this.view.lacks('clientIp');
  }

  get tls(): RequestTls | undefined {
    return this.scheme === 'https' ? this.view.lacks('certificate') : undefined;
  }

  get listener(): ListenerFacts | undefined {
    return this.section?.listener;
  }

  header(name: string): string | undefined {
    const value = this.fieldOf(name);
    return value === unknown ? this.view.lacks(`header ${name}`) : value;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#names.headers.flatMap((name) => {
      const value = this.fieldOf(name);
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
  }

  /** Values are those of the log: credentials are redacted, long ones are cut, and some are not text. */
  fieldOf(lowerName: string): Recorded {
    if (!this.#names.headers.includes(lowerName)) return unknown;
    const value = this.#record.headers[lowerName];
    if (value === undefined) return undefined;
    return value === '[redacted]' || isCut(value) || !ascii.test(value) ? unknown : fieldText(value);
  }

  /** Returns whether the request has the field with a value; undefined: it is not known. */
  hasField(lowerName: string): boolean | undefined {
    if (!this.#names.headers.includes(lowerName)) return undefined;
    return (this.#record.headers[lowerName] ?? '') !== '';
  }

  parameterOf(name: string): Recorded {
    if (this.#names.query.includes(name)) {
      const value = this.#record.query[name];
      return value !== undefined && isCut(value) ? unknown : value;
    }
    return this.hasParameter(name) === false ? undefined : unknown;
  }

  /** Returns whether the request has the parameter; undefined: it is not known. */
  hasParameter(name: string): boolean | undefined {
    if (this.#names.query.includes(name)) return this.#record.query[name] !== undefined;
    if (this.#parameterNames.includes(name)) return true;
    return this.#record.lacksParams ? undefined : false;
  }

  isSingle(name: string): boolean {
    return !this.#record.lacksParams && this.#parameterNames.filter((each) => each === name).length <= 1;
  }

  get #parameterNames(): readonly string[] {
    this.#parameters ??= [...parametersOf(this.#record.params.map((name) => `${name}=`).join('&')).keys()];
    return this.#parameters;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
const ascii = /^[\x00-\x7f]*$/;

const isCut = (value: string): boolean => value.length >= headerMax - 2;
