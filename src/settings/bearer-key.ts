// API keys of the settings: a text that an `Authorization` field cannot carry is refused (RFC 9110 §5.5).
import type { Section } from './section.ts';

/** Visible ASCII; blanks within it, for those around a field value are not part of it. */
const carried = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function checkBearerKey(section: Section, key: string, text: string | undefined): void {
  if (text === undefined || text === '' || carried.test(text)) return;
  section.error(
    key,
    'must be visible ASCII characters, for no request could carry it: look for a line end or a blank around it',
  );
}
