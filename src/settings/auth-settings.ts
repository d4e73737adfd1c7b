// Keys `controlPlane.auth`: API keys and their roles.
import { roles } from '../model/api-role.ts';
import { bearerKeyProblem } from './bearer-key.ts';
import { section, sections, type Values } from './key.ts';
import { oneOf, text } from './scalar-key.ts';
import type { Section } from './section.ts';

const apiKeyKeys = {
  name: text('name of the holder in the audit log and in messages, unique', { isRequired: true }),
  key: text('visible ASCII, unique: requests carry it as `Authorization: Bearer <key>`', {
    isRequired: true,
    check: bearerKeyProblem,
  }),
  role: oneOf(
    roles,
    'admin',
    '`proxy` reads the event stream only. Only an `admin` sees values of secrets; an `editor` puts them to use, and so can find out ' +
      'what they are: a route can answer with one, a batch that upserts a guess says whether it changes anything',
    { isBlankRefused: true },
  ),
};

export type ApiKey = Values<typeof apiKeyKeys>;

const authKeys = {
  apiKeys: sections(
    apiKeyKeys,
    'keys of requests to the API. Without keys the API is open. With keys the page of the explorer needs one too, which a browser ' +
      'does not send by itself',
  ),
};

export const authSection = section(authKeys, { isProtection: true, check: reportRepeated });

/** Refuses two keys of one name or one value: the role of a caller would depend on their order. */
function reportRepeated({ apiKeys: keys }: Values<typeof authKeys>, at: Section): void {
  keys.forEach(({ name, key }, place) => {
    const earlier = keys.slice(0, place);
    if (name !== '' && earlier.some((each) => each.name === name)) at.error(`apiKeys[${place}].name`, 'is used twice');
    if (key !== '' && earlier.some((each) => each.key === key)) at.error(`apiKeys[${place}].key`, 'is used twice');
  });
}
