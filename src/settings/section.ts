// Section of the settings file: one map, read key by key. Every error carries the key's whole path, and reading
// goes on after it, so that one start shows all errors.
import { parseDuration } from '../model/duration.ts';
import { isObject } from '../model/json-object.ts';

/** Errors and warnings over all sections of a file. */
export interface SettingsProblems {
  readonly errors: string[];
  readonly warnings: string[];
}

type YamlMap = Readonly<Record<string, unknown>>;

export class Section {
  readonly #map: YamlMap;
  readonly #path: string;
  readonly #problems: SettingsProblems;
  readonly #known = new Set<string>();

  constructor(map: YamlMap, path: string, problems: SettingsProblems) {
    this.#map = map;
    this.#path = path;
    this.#problems = problems;
  }

  /** Returns whether the key has a value; `key:` with nothing behind it has none. */
  has(key: string): boolean {
    this.#known.add(key);
    return this.#map[key] !== undefined && this.#map[key] !== null;
  }

  /**
   * Refuses a key with nothing behind it, such as a variable that is not set leaves: an absent key would allow more than the
   * operator meant.
   */
  refuseBlank(key: string): void {
    if (Object.hasOwn(this.#map, key) && (this.#map[key] === null || this.#map[key] === ''))
      this.error(key, 'is empty');
  }

  error(key: string, message: string): undefined {
    this.#problems.errors.push(`${this.pathOf(key)} ${message}`);
  }

  warn(key: string, message: string): void {
    this.#problems.warnings.push(`${this.pathOf(key)} ${message}`);
  }

  pathOf(key: string): string {
    return this.#path === '' ? key : `${this.#path}.${key}`;
  }

  /** Text, with numbers and booleans as YAML writes them: `nodeId: 1` is a name too. */
  text(key: string): string | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#map[key];
    if (typeof value === 'string') return value === '' ? undefined : value;
    if (typeof value === 'number') return String(value);
    return this.error(key, 'must be a string');
  }

  required(key: string): string {
    const value = this.text(key);
    if (value === undefined && typeof (this.#map[key] ?? '') === 'string') this.error(key, 'is required');
    return value ?? '';
  }

  integer(key: string, bounds: { min: number; max?: number; otherwise: number }): number {
    if (!this.has(key)) return bounds.otherwise;
    const value = this.#map[key];
    const max = bounds.max ?? Number.MAX_SAFE_INTEGER;
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= max) return value;
    const range = bounds.max === undefined ? `of at least ${bounds.min}` : `from ${bounds.min} to ${bounds.max}`;
    this.error(key, `must be an integer ${range}`);
    return bounds.otherwise;
  }

  number(key: string, { min, max, otherwise }: { min: number; max: number; otherwise: number }): number {
    if (!this.has(key)) return otherwise;
    const value = this.#map[key];
    if (typeof value === 'number' && value >= min && value <= max) return value;
    this.error(key, `must be a number from ${min} to ${max}`);
    return otherwise;
  }

  flag(key: string, otherwise: boolean): boolean {
    if (!this.has(key)) return otherwise;
    const value = this.#map[key];
    if (typeof value === 'boolean') return value;
    this.error(key, 'must be true or false');
    return otherwise;
  }

  /** Milliseconds, above zero. */
  duration(key: string, otherwiseMs: number): number {
    const text = this.text(key);
    if (text === undefined) return otherwiseMs;
    const ms = parseDuration(text);
    if (ms !== undefined && ms > 0) return ms;
    this.error(key, 'must be a positive duration such as 500ms or 1m30s');
    return otherwiseMs;
  }

  oneOf<const T extends string>(key: string, allowed: readonly T[], otherwise: T): T {
    const value = this.text(key);
    if (value === undefined) return otherwise;
    const found = allowed.find((each) => each === value);
    if (found !== undefined) return found;
    this.error(key, `must be one of ${allowed.join(', ')}`);
    return otherwise;
  }

  /** Like `oneOf`, but a wrong value only costs a warning (contract.md §1.6). */
  oneOfOrWarn<const T extends string>(key: string, allowed: readonly T[], otherwise: T): T {
    const value = this.text(key);
    if (value === undefined) return otherwise;
    const found = allowed.find((each) => each === value);
    if (found === undefined) this.warn(key, `must be one of ${allowed.join(', ')}; using ${otherwise}`);
    return found ?? otherwise;
  }

  /** A list of strings, or undefined when the key is absent: an empty list is something else. */
  texts(key: string): string[] | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#map[key];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    return this.error(key, 'must be a list of strings');
  }

  section(key: string): Section | undefined {
    if (!this.has(key)) return undefined;
    const value = this.#map[key];
    if (isObject(value)) return new Section(value, this.pathOf(key), this.#problems);
    return this.error(key, 'must be a map');
  }

  /** Empty section in the place of an absent one. */
  absent(key: string): Section {
    return new Section({}, this.pathOf(key), this.#problems);
  }

  /** Section of a protection: a key that is written and left empty is an error, not a wish to go without. */
  protection(key: string): Section | undefined {
    if (this.#map[key] !== null) return this.section(key);
    this.#known.add(key);
    return this.error(key, 'is empty: fill it in or leave it out');
  }

  sections(key: string): Section[] {
    if (!this.has(key)) return [];
    const value = this.#map[key];
    if (!Array.isArray(value) || !value.every(isObject)) {
      this.error(key, 'must be a list of maps');
      return [];
    }
    return value.map((each, at) => new Section(each, `${this.pathOf(key)}[${at}]`, this.#problems));
  }

  /** Keys of a map with free keys. */
  keys(): string[] {
    return Object.keys(this.#map);
  }

  /** Warns of every key that was not read. Call it last. */
  end(): void {
    for (const key of Object.keys(this.#map)) {
      if (!this.#known.has(key)) this.warn(key, 'is unknown and ignored');
    }
  }
}
