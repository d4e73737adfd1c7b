// Keys of the settings file that have a scalar or a list of texts.
import { parseDuration } from '../model/duration.ts';
import type { Key } from './key.ts';
import type { Section } from './section.ts';

interface Options {
  /** Value of an absent key as docs/settings.md shows it. Default: `otherwise`. */
  readonly usual?: string;
}

/** Returns the problem with a value. */
type Check = (value: string) => string | undefined;

interface TextOptions extends Options {
  readonly type?: string;
  readonly check?: Check;
  /** Refuses a key with nothing behind it, as a variable that is not set leaves it. */
  readonly isBlankRefused?: boolean;
}

const code = (value: unknown): string => `\`${String(value)}\``;
const usualOf = (otherwise: unknown, { usual }: Options): { readonly usual?: string } => {
  if (usual !== undefined) return { usual };
  return otherwise === undefined ? {} : { usual: code(otherwise) };
};

/** Text; a number stands for its digits. */
export function text(
  meaning: string,
  options: TextOptions & ({ readonly otherwise: string } | { readonly isRequired: true }),
): Key<string, ''>;
export function text(meaning: string, options?: TextOptions): Key<string | undefined, ''>;
export function text(
  meaning: string,
  options: TextOptions & { readonly otherwise?: string; readonly isRequired?: boolean } = {},
): Key<string | undefined, ''> {
  const { type = 'text', otherwise, isRequired, check, isBlankRefused } = options;
  return {
    type,
    ...usualOf(otherwise, isRequired ? { usual: 'required' } : options),
    meaning,
    unit: '',
    read(section, name) {
      if (isBlankRefused) section.refuseBlank(name);
      const value = isRequired ? section.required(name) : section.text(name);
      const problem = value === undefined || value === '' ? undefined : check?.(value);
      if (problem !== undefined) section.error(name, problem);
      return value ?? otherwise;
    },
  };
}

interface Bounds {
  readonly min: number;
  /** Default: none. */
  readonly max?: number;
}

const count = (value: number): string => value.toLocaleString('en');
const boundsOf = ({ min, max }: Bounds): string =>
  max === undefined ? `at least ${count(min)}` : `${count(min)} to ${count(max)}`;

export const integer = (
  meaning: string,
  { otherwise, ...options }: Options & Bounds & { readonly otherwise: number },
): Key<number, ''> => ({
  type: `integer, ${boundsOf(options)}`,
  ...usualOf(otherwise, options),
  meaning,
  unit: '',
  read: (section, name) => section.integer(name, { ...options, otherwise }),
});

/** Integer that is undefined when absent: what it stands for is not known before the process runs. */
export const optionalInteger = (
  meaning: string,
  options: Bounds & { readonly usual: string },
): Key<number | undefined, ''> => ({
  type: `integer, ${boundsOf(options)}`,
  usual: options.usual,
  meaning,
  unit: '',
  read: (section, name) =>
    section.has(name) ? section.integer(name, { ...options, otherwise: options.min }) : undefined,
});

export const number = (
  meaning: string,
  { otherwise, ...bounds }: Required<Bounds> & { readonly otherwise: number },
): Key<number, ''> => ({
  type: `number, ${boundsOf(bounds)}`,
  usual: code(otherwise),
  meaning,
  unit: '',
  read: (section, name) => section.number(name, { ...bounds, otherwise }),
});

export const flag = (meaning: string, otherwise: boolean): Key<boolean, ''> => ({
  type: '`true` or `false`',
  usual: code(otherwise),
  meaning,
  unit: '',
  read: (section, name) => section.flag(name, otherwise),
});

/** Duration above zero, read into milliseconds. */
export const duration = (meaning: string, otherwise: string): Key<number, 'Ms'> => ({
  type: 'duration above zero',
  usual: code(otherwise),
  meaning,
  unit: 'Ms',
  read: (section, name) => section.duration(name, parseDuration(otherwise) ?? 0),
});

/** One of the words. A wrong one is an error, or with `isLenient` a warning (contract.md §1.6). */
export const oneOf = <const T extends string>(
  words: readonly T[],
  otherwise: T,
  meaning: string,
  {
    isLenient = false,
    isBlankRefused = false,
  }: { readonly isLenient?: boolean; readonly isBlankRefused?: boolean } = {},
): Key<T, ''> => ({
  type: words.map(code).join(', '),
  usual: code(otherwise),
  meaning,
  unit: '',
  read(section, name) {
    if (isBlankRefused) section.refuseBlank(name);
    return isLenient ? section.oneOfOrWarn(name, words, otherwise) : section.oneOf(name, words, otherwise);
  },
});

interface TextsOptions extends Options {
  readonly type?: string;
  readonly lengthMin?: number;
  readonly lengthMax?: number;
  readonly check?: Check;
  readonly isBlankRefused?: boolean;
}

/** List of texts. An empty one is something else than an absent one, which is undefined. */
export const texts = (meaning: string, options: TextsOptions = {}): Key<readonly string[] | undefined, ''> => {
  const { type = 'list of texts', lengthMin = 0, lengthMax, usual, check, isBlankRefused } = options;
  return {
    type: lengthMax === undefined ? type : `${type}, at most ${lengthMax}`,
    ...(usual !== undefined && { usual }),
    meaning,
    unit: '',
    read(section, name) {
      if (isBlankRefused) section.refuseBlank(name);
      const values = section.texts(name);
      if (values === undefined) return undefined;
      if (values.length < lengthMin) section.error(name, 'must have at least one entry');
      if (lengthMax !== undefined && values.length > lengthMax)
        section.error(name, `must have at most ${lengthMax} entries`);
      checkEach(section, name, values, check);
      return values;
    },
  };
};

function checkEach(section: Section, name: string, values: readonly string[], check: Check | undefined): void {
  values.forEach((value, at) => {
    const problem = check?.(value);
    if (problem !== undefined) section.error(`${name}[${at}]`, problem);
  });
}
