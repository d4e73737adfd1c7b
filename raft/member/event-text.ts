// Line for an event of the core, for people who follow an election or a replacement.
import type { CoreEvent } from '../core/output.ts';

/** `role: leader, term 3, leader 4a#17` */
export function eventText({ type, ...fields }: CoreEvent): string {
  const texts = Object.entries(fields).map(
    ([name, value]) => `${name} ${typeof value === 'object' ? json(value) : value}`,
  );
  return texts.length === 0 ? type : `${type}: ${texts.join(', ')}`;
}

const json = (value: object | null): string =>
  JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
