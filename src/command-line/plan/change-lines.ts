// Lines of a difference for people: a resource and one of its fields, old → new.
import { countOf } from '../input/fault.ts';
import { cutTo, printable, widthOf } from '../output/text-table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Change } from './plan.ts';

/** Lines of one change and longest value that are shown. */
const fieldsMax = 20;
const valueMax = 60;

const nameWidth = 23;

/** `where`: what a deleted resource is absent from. */
export function changeLines(changes: readonly Change[], terminal: Terminal, where: string): string[] {
  const subjects = changes.map(({ kind, name }) => `${kind}/${name}`);
  const width = Math.min(48, Math.max(nameWidth, ...subjects.map(widthOf)));
  return changes.flatMap((change) => {
    const subject = printable(`${change.kind}/${change.name}`, true);
    const line = (text: string) => `${subject}${' '.repeat(Math.max(1, width + 1 - widthOf(subject)))}${text}`;
    if (change.is === 'created') return [line(terminal.paint('green', '+ created'))];
    if (change.is === 'deleted') {
      const owner = change.owner === undefined ? '' : `owner ${change.owner}, `;
      return [line(terminal.paint('red', `- deleted (${owner}absent from ${where})`))];
    }
    const { changes: fields } = change;
    const pointers = Math.max(0, ...fields.slice(0, fieldsMax).map(({ pointer }) => pointer.length));
    const lines = fields.slice(0, fieldsMax).map(({ pointer, from, to }) => {
      const old = terminal.paint('red', valueText(from));
      return line(
        `${terminal.paint('yellow', '~')} ${printable(pointer, true).padEnd(pointers)}   ${old} → ${terminal.paint('green', valueText(to))}`,
      );
    });
    const more = fields.length - fieldsMax;
    const rest = fields.length === 0 ? [line('~ (its value is not told)')] : [];
    return [...lines, ...(more > 0 ? [line(`~ and ${countOf(more, 'more field')}`)] : rest)];
  });
}

function valueText(value: unknown): string {
  if (value === null) return '(absent)';
  const text = printable(JSON.stringify(value), true);
  return cutTo(text, valueMax);
}

/** `1 to create, 1 to change, 1 to delete` */
export function summaryOf(changes: readonly Change[]): string {
  const count = (is: Change['is']) => changes.filter((change) => change.is === is).length;
  const parts = [
    [count('created'), 'to create'],
    [count('changed'), 'to change'],
    [count('deleted'), 'to delete'],
  ] as const;
  return parts.map(([number, what]) => `${number} ${what}`).join(', ');
}

/** Shape of `entities` in `POST /diff`. */
export const differenceOf = (changes: readonly Change[]) => ({
  created: changes.flatMap((change) => (change.is === 'created' ? [named(change)] : [])),
  changed: changes.flatMap((change) =>
    change.is === 'changed' ? [{ ...named(change), changes: change.changes }] : [],
  ),
  deleted: changes.flatMap((change) => (change.is === 'deleted' ? [named(change)] : [])),
});

const named = ({ kind, id, name, owner }: Change) => ({ kind, id, name, ...(owner !== undefined && { owner }) });
