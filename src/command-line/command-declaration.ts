// Declaration of a command: words, arguments, flags, examples and what it runs. Parser, help, completions, man page and
// docs/cli.md are made of it.
import type { Session } from './command-session.ts';

interface FlagText {
  readonly brief: string;
  /** Letter after one hyphen. */
  readonly alias?: string;
}

/** `switch` is on or absent. */
interface SwitchFlag extends FlagText {
  readonly kind: 'switch';
}

interface TextFlag extends FlagText {
  readonly kind: 'text';
  /** Word that stands for the value in help: `FILE`. */
  readonly value: string;
  readonly choices?: readonly string[];
  /** The flag may stand alone and is empty then. */
  readonly mayBeEmpty?: boolean;
}

/** A flag that may be repeated. */
interface TextsFlag extends FlagText {
  readonly kind: 'texts';
  readonly value: string;
}

export type Flag = SwitchFlag | TextFlag | TextsFlag;
export type Flags = Readonly<Record<string, Flag>>;

type ValueOf<F extends Flag> = F['kind'] extends 'switch'
  ? boolean
  : F['kind'] extends 'texts'
    ? readonly string[]
    : string | undefined;

/** Values of flags by name: false and `[]` where they are absent. */
export type Values<F extends Flags> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

export interface Argument {
  /** Upper case in help: `KIND`. */
  readonly name: string;
  readonly brief: string;
  readonly optional?: boolean;
  /** Last argument that takes all the rest. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
}

interface Example {
  /** Command with `sluice` in front. */
  readonly line: string;
  readonly does: string;
}

interface Definition<F extends Flags> {
  /** Words that name it: `snapshot create`. */
  readonly words: string;
  /** One line without a full stop. */
  readonly brief: string;
  /** Paragraphs for help and docs/cli.md. */
  readonly text?: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: F;
  readonly examples?: readonly Example[];
  /** The command asks no server: flags of connections are not among its own. */
  readonly isLocal?: boolean;
  /** The command prints until it is interrupted, and ends when the reader of its output has gone. */
  readonly isEndless?: boolean;
  /** The command prints entities or rows: `-o` is among its flags. */
  readonly hasForms?: boolean;
  /** Further forms of `-o`. */
  readonly extraForms?: readonly string[];
  /** Resolves with the exit code; undefined is 0. */
  run(session: Session, args: readonly string[], flags: Values<F>): Promise<number | undefined>;
}

export type Command = Definition<Flags>;

/** Declares a command whose `run` sees the types of its flags. */
export const command = <const F extends Flags>(definition: Definition<F>): Command => definition as unknown as Command;
