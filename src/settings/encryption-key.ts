// Section `encryption`: a key for encryption at rest.
import { type Key, section } from './key.ts';

const encryptionKey = (meaning: string): Key<Buffer, ''> => ({
  type: 'base64 of 32 bytes',
  usual: 'required',
  meaning,
  unit: '',
  read(owner, name) {
    const text = owner.required(name);
    const bytes = Buffer.from(text, 'base64');
    if (text !== '' && (bytes.length !== 32 || bytes.toString('base64') !== text))
      owner.error(name, 'must be standard base64 of exactly 32 bytes');
    return bytes;
  },
});

/** Section with a `key` of 32 bytes. */
export const encryptionSection = (meaning: string) => section({ key: encryptionKey(meaning) }, { isProtection: true });
