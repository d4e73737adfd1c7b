// Keys of the settings file as descriptors: type, bounds, default and meaning are declared once, in the file of the section.
// The reader, the warnings of unknown keys, the types of the values and docs/settings.md are derived from them.
import type { Section } from './section.ts';

/** End of the name of the value: `shutdownTimeout` is read into `shutdownTimeoutMs`. */
type Unit = '' | 'Ms';

export interface Key<T = unknown, U extends Unit = Unit> {
  /** Type with its bounds, in words. Absent: a section, which docs/settings.md shows by its keys alone. */
  readonly type?: string;
  /** Value of an absent key, in Markdown. Absent: none. */
  readonly usual?: string;
  /** Meaning, in Markdown, with links as from docs/. */
  readonly meaning: string;
  readonly unit: U;
  /** Keys below: of a section, or of each element of a list. */
  readonly below?: { readonly keys: Keys; readonly isList: boolean };
  /** Reads the value. Problems are recorded with the section; the value in their place only serves to go on. */
  read(section: Section, name: string): T;
}

export type Keys = Readonly<Record<string, Key>>;

type ValueOf<K> = K extends Key<infer T> ? T : never;
type NameOf<N, K> = K extends Key<unknown, infer U> ? `${N & string}${U}` : never;

/** Values of the keys. Optional ones are undefined when absent. */
export type Values<K extends Keys> = {
  readonly [N in keyof K as undefined extends ValueOf<K[N]> ? never : NameOf<N, K[N]>]: ValueOf<K[N]>;
} & {
  readonly [N in keyof K as undefined extends ValueOf<K[N]> ? NameOf<N, K[N]> : never]?: ValueOf<K[N]>;
};

/** Reads the keys of a section, and warns of those that are not among them. */
export function readKeys<K extends Keys>(section: Section, keys: K): Values<K> {
  const values: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(keys)) values[`${name}${key.unit}`] = key.read(section, name);
  section.end();
  return values as Values<K>;
}

export interface SectionOptions<K extends Keys> {
  /** Refuses a section that is written and left empty: the operator means to have what it says. */
  readonly isProtection?: boolean;
  /** Checks that take several keys. */
  readonly check?: (values: Values<K>, section: Section) => void;
}

/** Section of the keys; undefined when absent. */
export const section = <K extends Keys>(
  keys: K,
  { isProtection = false, check }: SectionOptions<K> = {},
): Key<Values<K> | undefined, ''> => ({
  meaning: '',
  unit: '',
  below: { keys, isList: false },
  read(owner, name) {
    const found = isProtection ? owner.protection(name) : owner.section(name);
    if (found === undefined) return undefined;
    const values = readKeys(found, keys);
    check?.(values, found);
    return values;
  },
});

/** Section of the keys. An absent one has the defaults. */
export const presentSection = <K extends Keys>(keys: K): Key<Values<K>, ''> => ({
  meaning: '',
  unit: '',
  below: { keys, isList: false },
  read: (owner, name) => readKeys(owner.section(name) ?? owner.absent(name), keys),
});

/** List of sections of the keys; empty when absent. */
export const sections = <K extends Keys>(keys: K, meaning: string): Key<readonly Values<K>[], ''> => ({
  type: 'list of maps',
  usual: '`[]`',
  meaning,
  unit: '',
  below: { keys, isList: true },
  read(owner, name) {
    owner.refuseBlank(name);
    return owner.sections(name).map((each) => readKeys(each, keys));
  },
});

/** Returns the values of these keys, out of those of more keys. */
export const valuesOf = <K extends Keys>(keys: K, values: Values<K>): Values<K> => {
  const all: Readonly<Record<string, unknown>> = values;
  const names = Object.entries(keys).map(([name, { unit }]) => `${name}${unit}`);
  return Object.fromEntries(names.map((name) => [name, all[name]])) as Values<K>;
};
