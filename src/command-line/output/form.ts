// Forms of output (`-o`): tables for people, JSON and YAML as the API gives entities, names, and an expression of each.
import { wrongUsage } from '../exit.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Column, printable, table } from './text-table.ts';

export type Form =
  | { readonly is: 'table' | 'wide' | 'json' | 'yaml' | 'name' }
  | { readonly is: 'cel'; readonly expression: string }
  | { readonly is: 'extra'; readonly name: string };

export const formNames = ['table', 'wide', 'json', 'yaml', 'name', 'cel=EXPR'] as const;

/** `extra`: forms of this command alone. */
export function formOf(text = 'table', extra: readonly string[] = []): Form {
  if (extra.includes(text)) return { is: 'extra', name: text };
  if (text.startsWith('cel=')) return { is: 'cel', expression: text.slice('cel='.length) };
  if (text === 'table' || text === 'wide' || text === 'json' || text === 'yaml' || text === 'name') return { is: text };
  throw wrongUsage(`-o must be one of ${[...formNames, ...extra].join(', ')}, not ${text}`);
}

/** Rows that a command prints. */
export interface Listing<T> {
  readonly items: readonly T[];
  /** Value that `-o json` and `-o yaml` print; the items otherwise. */
  readonly value?: unknown;
  readonly columns: readonly Column<T>[];
  readonly nameOf: (item: T) => string;
  /** Line in the place of an empty table. */
  readonly empty?: string;
}

export async function show<T>(terminal: Terminal, form: Form, listing: Listing<T>): Promise<void> {
  const { items, value = items, columns, nameOf, empty } = listing;
  switch (form.is) {
    case 'json':
      return terminal.print(JSON.stringify(value, undefined, 2));
    case 'yaml':
      return terminal.write(await yamlOf(value));
    case 'name':
      for (const item of items) terminal.print(printable(nameOf(item), true));
      return;
    case 'cel': {
      const evaluate = await evaluatorFor(form);
      for (const item of items) terminal.print(evaluate(item));
      return;
    }
    default:
      if (items.length === 0 && empty !== undefined) return terminal.hint(empty);
      terminal.write(table(items, columns, { wide: form.is === 'wide' }));
  }
}

/** Resolves with the text of the expression's value for an item; CEL is loaded for it alone. */
export async function evaluatorFor({
  expression,
}: {
  readonly expression: string;
}): Promise<(item: unknown) => string> {
  const { evaluatorOf } = await import('../checks.ts');
  return evaluatorOf(expression);
}

/** One value by itself: a table of its fields where no other form is asked for. */
export async function showValue(terminal: Terminal, form: Form, value: object, text: () => string): Promise<void> {
  if (form.is === 'table' || form.is === 'wide') return terminal.write(text());
  const named = value as { readonly name?: string; readonly id?: string };
  await show(terminal, form, { items: [value], value, columns: [], nameOf: () => named.name ?? named.id ?? '' });
}

export async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('../yaml-library.ts');
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
