// Variables of `--var K=V`: `$(K)` in scalars, `$$(` for the text `$(`.
import { wrongUsage } from '../exit.ts';

const reference = /\$\$\(|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g;

export class Variables {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** Fills a scalar in. A plain one that is nothing but a variable has the type that the value has in YAML. */
  fill(text: string, isPlain: boolean, onUnset: (message: string) => void): unknown {
    const filled = text.replace(reference, (whole, name: string | undefined) => {
      if (name === undefined) return '$(';
      const value = this.#values.get(name);
      if (value === undefined) onUnset(`the variable ${name} is not set: --var ${name}=…`);
      return value ?? whole;
    });
    const isAlone = isPlain && /^\$\([^)]*\)$/.test(text);
    return isAlone ? plainValue(filled) : filled;
  }
}

export const noVariables = new Variables(new Map());

/** Reads `K=V` texts. Throws wrong usage. */
export function variablesOf(given: readonly string[]): Variables {
  const values = new Map<string, string>();
  for (const text of given) {
    const [, name, value = ''] = /^([A-Za-z_][A-Za-z0-9_.-]*)=(.*)$/s.exec(text) ?? [];
    if (name === undefined) throw wrongUsage(`--var takes NAME=VALUE, not ${text}`);
    values.set(name, value);
  }
  return new Variables(values);
}

/** Texts that read as variables, written so that they are read as they stand. */
export const escapeVariables = (text: string): string => text.replace(/\$\$?\(/g, (found) => `$${found}`);

const number = /^[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

function plainValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null' || text === '~' || text === '') return null;
  return number.test(text) ? Number(text) : text;
}
