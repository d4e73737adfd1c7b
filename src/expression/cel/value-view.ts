// View of a request that expressions see. Nothing is copied until an expression asks for it: a header is looked up
// where it lies, and the query is decoded and the body parsed at most once.

/** Presented by the proxy. Everything is as the matchers see it: canonical path, trusted client address. */
export interface RequestFacts {
  /** UUID of version 7 (RFC 9562 §5.7), made when it is first read. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Authority without port. */
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly clientIp: string;
  /** Without the question mark. */
  readonly query: string;
  /** Present when the client showed a verified certificate. */
  readonly tls?: RequestTls | undefined;
  /** Listener that accepted the connection, and the section of the host; absent where there is none. */
  readonly listener?: ListenerFacts | undefined;
  /** Consumer that a middleware has found by a credential of the request; absent before, and where there is none. */
  readonly consumer?: ConsumerFacts | undefined;
  /** Values of all lines of a field as one (RFC 9110 §5.3), by its lower-case name. */
  header(name: string): string | undefined;
  /** Every field in order, names in lower case. */
  headers(): Iterable<readonly [name: string, value: string]>;
}

export interface ListenerFacts {
  readonly id: string;
  readonly name: string;
  readonly port: bigint;
  /** Name; empty where the listener has no sections, or none for the host. */
  readonly section: string;
}

export interface ConsumerFacts {
  readonly id: string;
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

export interface RequestTls {
  readonly peerCertificate: {
    readonly uris: readonly string[];
    readonly dnsNames: readonly string[];
    /** RFC 2253 style: `CN=agent-a,O=myorg`. */
    readonly subject: string;
    /** Lower-case hex without leading zeros. */
    readonly serial: string;
  };
}

/** Buffered part of a body. */
export interface BodyText {
  /** At most celBodyMaxSize of it. */
  readonly raw: string;
  /** False when the body went on beyond the limit: then `json` is absent. */
  readonly whole: boolean;
}

interface BodyView {
  readonly raw: string;
  readonly json: unknown;
}

/** Steps that all matchers of one request may take together, beside those that each has free. */
const matchStepsMax = 200_000;
const freeSteps = 1_000;

/** Characters from which on a value is read as text once. */
const longMin = 1_024;

/** Made once per request that meets an expression; may be kept and reset for the next. */
export class RequestView {
  facts: RequestFacts;
  readonly #textOf: (value: string) => string;
  #headers: ReadonlyMap<string, string> | undefined;
  /** Long values that were looked up: to read one as text takes as long as to search it. */
  #long: Map<string, string> | undefined;
  #headerValues: ReadonlyMap<string, readonly string[]> | undefined;
  #queryParams: ReadonlyMap<string, string> | undefined;
  #queryValues: ReadonlyMap<string, readonly string[]> | undefined;
  #text: BodyText | undefined;
  #body: BodyView | undefined;
  /** An expression that reads the body was to be asked before it was here. */
  bodyWanted = false;
  /** Status of the response; set before an expression over it is asked. */
  responseStatus = 0;
  /** A matcher could not be decided within its budget: no entry is to serve the request (expressions.md §6). */
  isExhausted = false;
  #matchSteps = matchStepsMax;

  /** @param textOf text of a field value as it travelled; by default it is that */
  constructor(facts: RequestFacts, textOf: (value: string) => string = asItIs) {
    this.facts = facts;
    this.#textOf = textOf;
  }

  reset(facts: RequestFacts): void {
    this.facts = facts;
    this.forgetHeaders();
    this.#queryParams = undefined;
    this.#queryValues = undefined;
    this.#text = undefined;
    this.#body = undefined;
    this.bodyWanted = false;
    this.beginMatching();
  }

  /** Forgets what the matchers that were asked before have taken. */
  beginMatching(): void {
    this.isExhausted = false;
    this.#matchSteps = matchStepsMax;
  }

  /** Pays for one matcher. False where the matchers of the request take too many steps together: it is exhausted then. */
  pay(steps: number): boolean {
    if (steps > freeSteps) this.#matchSteps -= steps - freeSteps;
    if (this.#matchSteps < 0) this.isExhausted = true;
    return this.#matchSteps >= 0;
  }

  /** A middleware changed the fields: expressions that follow see the new ones (contract.md §6.7). */
  forgetHeaders(): void {
    this.#headers = undefined;
    this.#headerValues = undefined;
    this.#long = undefined;
  }

  /** Makes `request.body` present. */
  attachBody(text: BodyText): void {
    this.#text = text;
    this.#body = undefined;
    this.bodyWanted = false;
    this.#matchSteps = matchStepsMax;
  }

  /** Attached text; undefined: none. */
  get bodyText(): BodyText | undefined {
    return this.#text;
  }

  get hasBody(): boolean {
    return this.#text !== undefined;
  }

  /** `host` is no header here (contract.md §6.6): expressions have `request.host`. */
  header(name: string): string | undefined {
    const value = name === 'host' ? undefined : this.facts.header(name);
    if (value === undefined || value.length < longMin) return value && this.#textOf(value);
    return this.#longText(name, value);
  }

  #longText(name: string, value: string): string {
    this.#long ??= new Map();
    const text = this.#long.get(name) ?? this.#textOf(value);
    this.#long.set(name, text);
    return text;
  }

  queryParam(name: string): string | undefined {
    return this.queryParams.get(name);
  }

  get headers(): ReadonlyMap<string, string> {
    this.#headers ??= this.#combinedHeaders();
    return this.#headers;
  }

  /** Value of each line. */
  get headerValues(): ReadonlyMap<string, readonly string[]> {
    this.#headerValues ??= allValues(this.facts.headers(), this.#textOf, 'host');
    return this.#headerValues;
  }

  /** Values of one field, line by line. */
  headerValuesOf(name: string): readonly string[] | undefined {
    return this.headerValues.get(name);
  }

  get queryParams(): ReadonlyMap<string, string> {
    this.#queryParams ??= firstValues(parametersOf(this.facts.query));
    return this.#queryParams;
  }

  get queryValues(): ReadonlyMap<string, readonly string[]> {
    this.#queryValues ??= allValues(parametersOf(this.facts.query), asItIs);
    return this.#queryValues;
  }

  /** Values of one parameter, in order. */
  queryValuesOf(name: string): readonly string[] | undefined {
    return this.queryValues.get(name);
  }

  get body(): BodyView | undefined {
    if (this.#text && !this.#body) this.#body = bodyView(this.#text, this.facts.header('content-type') ?? '');
    return this.#body;
  }

  #combinedHeaders(): ReadonlyMap<string, string> {
    const combined = new Map<string, string>();
    for (const [name] of this.facts.headers()) {
      if (!combined.has(name) && name !== 'host') combined.set(name, this.#textOf(this.facts.header(name) ?? ''));
    }
    return combined;
  }
}

/**
 * Parameters of a query without its question mark, decoded: `+` is a space, `;` separates nothing (contract.md §6.3). A
 * question mark that it begins with is part of a name: `/??key=k` has the parameter `?key`.
 */
export const parametersOf = (query: string): URLSearchParams => new URLSearchParams(query === '' ? '' : `?${query}`);

function firstValues(entries: Iterable<readonly [string, string]>): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const [name, value] of entries) if (!first.has(name)) first.set(name, value);
  return first;
}

function allValues(
  entries: Iterable<readonly [string, string]>,
  textOf: (value: string) => string,
  except?: string,
): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const [name, value] of entries) {
    if (name === except) continue;
    const known = all.get(name);
    if (known === undefined) all.set(name, [textOf(value)]);
    else known.push(textOf(value));
  }
  return all;
}

const asItIs = (value: string): string => value;

function bodyView({ raw, whole }: BodyText, contentType: string): BodyView {
  const json = whole && isJson(contentType) ? parseObject(raw) : undefined;
  return json === undefined ? { raw, json: undefined } : { raw, json };
}

/** In any case of letters (RFC 9110 §8.3.1): a rule over the body must see what the backend is going to read as JSON. */
const isJson = (contentType: string): boolean => jsonType.test(contentType);
/** A field that came twice is read by some from its last line. */
const jsonType = /(?:^|,\s*)application\/json/i;

/** The object, whole numbers as ints (bigint) and others as doubles; undefined for anything but an object. */
function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text, exactNumber);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value)) return value;
  const source = context?.source ?? '';
  const exact = /^-?[0-9]{1,19}$/.test(source) ? BigInt(source) : Math.abs(value) < 2 ** 63 ? BigInt(value) : undefined;
  return exact !== undefined && BigInt.asIntN(64, exact) === exact ? exact : value;
}
