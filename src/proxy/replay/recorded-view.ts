// View of a recorded request that expressions see. A field that is not recorded is a failure: an expression that is decided
// without it is decided, as `||` and `&&` absorb failures, and any other one is undecided.
import { type BodyText, type RequestFacts, RequestView } from '../../expression/cel/value-view.ts';
import { Failure } from '../../expression/cel/values.ts';
import { readableText } from '../fields/field-lines.ts';

/** Failure of what a record lacks, and of all below it. */
class NotRecorded extends Failure {
  get peerCertificate(): this {
    return this;
  }
  get uris(): this {
    return this;
  }
  get dnsNames(): this {
    return this;
  }
  get subject(): this {
    return this;
  }
  get serial(): this {
    return this;
  }
  get raw(): this {
    return this;
  }
  get json(): this {
    return this;
  }
}

const notRecorded = new NotRecorded('not recorded');

/** Record of one name: a value, undefined where the request does not have it, or `unknown`. */
export const unknown = Symbol('unknown');
export type Recorded = string | undefined | typeof unknown;

/** Facts of a recorded request. */
export interface RecordedFacts extends RequestFacts {
  /** Value of a field by its lower-case name, as it travelled. */
  fieldOf(lowerName: string): Recorded;
  /** First value of a parameter, decoded. */
  parameterOf(name: string): Recorded;
  /** Returns whether the request has the parameter at most once. */
  isSingle(name: string): boolean;
}

export class RecordedView extends RequestView {
  readonly #recorded: RecordedFacts;
  /** First thing that was asked for and is not recorded, since it was last set to undefined. */
  needs: string | undefined;

  constructor(facts: RecordedFacts) {
    super(facts, readableText);
    this.#recorded = facts;
  }

  /** Notes what is asked for. Readers of the view take a failure in the place of any value. */
  lacks(what: string): never {
    this.needs ??= what;
    return notRecorded as never;
  }

  override get hasBody(): boolean {
    return true;
  }

  override attachBody(_: BodyText): void {
    throw new Error('a recorded request has no body');
  }

  override header(name: string): string | undefined {
    if (name === 'host') return undefined;
    const value = this.#recorded.fieldOf(name);
    if (value === unknown) return this.lacks(`header ${name}`);
    return value === undefined ? undefined : readableText(value);
  }

  override queryParam(name: string): string | undefined {
    const value = this.#recorded.parameterOf(name);
    return value === unknown ? this.lacks(`query ${name}`) : value;
  }

  override get headers(): ReadonlyMap<string, string> {
    return this.lacks('header *');
  }

  override get headerValues(): ReadonlyMap<string, readonly string[]> {
    return this.lacks('header *');
  }

  override headerValuesOf(name: string): readonly string[] | undefined {
    const value = this.header(name);
    // Lines are recorded as one.
    return typeof value === 'string' && value.includes(',') ? this.lacks(`header ${name}`) : one(value);
  }

  override get queryParams(): ReadonlyMap<string, string> {
    return this.lacks('query *');
  }

  override get queryValues(): ReadonlyMap<string, readonly string[]> {
    return this.lacks('query *');
  }

  override queryValuesOf(name: string): readonly string[] | undefined {
    const value = this.queryParam(name);
    return typeof value === 'string' && !this.#recorded.isSingle(name) ? this.lacks(`query ${name}`) : one(value);
  }

  override get body(): never {
    return this.lacks('body');
  }
}

/** A value as a list; what is absent, or a failure, stays. */
const one = (value: string | undefined): readonly string[] | undefined => (typeof value === 'string' ? [value] : value);
