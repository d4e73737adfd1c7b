import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { withStoredKeys } from '../../../src/model/stored-api-key.ts';
import { parseEntity } from '../../../src/model/validation.ts';
import { describeRows, problemsWith } from '../../support/entities.ts';
import { secretHashes } from '../../support/password-hashes.ts';

const consumer = (...credentials: readonly object[]) => ({ name: 'c', credentials });
const apiKey = (key: unknown) => consumer({ type: 'apiKey', key });
const basic = (more: object = {}) =>
  consumer({ type: 'basic', username: 'ann', passwordHash: secretHashes.bcrypt, ...more });
const at = (field: string) => [`/credentials/0/${field}`];
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describeRows('consumers: credentials (contract.md §2.13)', 'consumers', [
  ['none', { name: 'c' }],
  ['an empty list', consumer()],
  ['one of each type', consumer({ type: 'apiKey', key: 'k' }, { type: 'jwt', issuer: 'i', subject: 's' })],
  ['no type', consumer({ key: 'k' }), at('type')],
  ['another type', consumer({ type: 'mtls' }), at('type')],
  ['a misspelt field', consumer({ type: 'apiKey', key: 'k', note: 'x' }), at('note')],
  ['a misspelt field of the consumer', { name: 'c', credential: [] }, ['/credential']],
  ['a key that is missing', consumer({ type: 'apiKey' }), at('key')],
  ['a key beside another type', basic({ key: 'k' }), at('key')],
  ['a key with a blank within', apiKey('one two')],
  ['a key with a blank at its end', apiKey('one '), at('key')],
  ['a key with a line break', apiKey('one\ntwo'), at('key')],
  ['a key beyond ASCII', apiKey('schlüssel'), at('key')],
  ['a key of 1,024 characters', apiKey('k'.repeat(1024))],
  ['a longer key', apiKey('k'.repeat(1025)), at('key')],
  ['a key that is a number', apiKey(7), at('key')],
  ['the hash of a key', apiKey(sha256('k'))],
  ['a text that begins like a hash', apiKey('sha256:k'), at('key')],
  ['a hash in capitals', apiKey(sha256('k').toUpperCase().replace('SHA', 'sha')), at('key')],
  ['a secret for a key', apiKey('{{secret:value:k}}')],
  ['a name and the hash of a password', basic()],
  ['a name with a colon', basic({ username: 'a:b' }), at('username')],
  ['a name with a control character', basic({ username: 'a\tb' }), at('username')],
  ['a password that is no hash', basic({ passwordHash: 'secret' }), at('passwordHash')],
  ['a hash that is too fast', basic({ passwordHash: '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }), at('passwordHash')],
  ['a basic credential without its hash', consumer({ type: 'basic', username: 'a' }), at('passwordHash')],
  ['a subject without issuer', consumer({ type: 'jwt', subject: 's' }), at('issuer')],
  ['an issuer without subject', consumer({ type: 'jwt', issuer: 'i' }), at('subject')],
]);

describe('keys of consumers', () => {
  it('are stored as their SHA-256, and hashes as they are', () => {
    const { entity } = parseEntity('consumers', consumer({ type: 'apiKey', key: 'CANARY' }));
    expect(entity).to.deep.equal(consumer({ type: 'apiKey', key: sha256('CANARY') }));
    expect(parseEntity('consumers', entity).entity).to.deep.equal(entity);
  });

  it('are not quoted by the problem of one', () => {
    for (const key of ['CANARY\n', ` CANARY`, 'sha256:CANARY', `CANARY${'x'.repeat(1024)}`])
      expect(problemsWith('consumers', apiKey(key)).join())
        .to.include('must be a key')
        .and.not.include('CANARY');
    expect(problemsWith('consumers', basic({ passwordHash: 'CANARY' })).join())
      .to.include('hash of a password')
      .and.not.include('CANARY');
  });

  it('that came from secrets are hashed where the secret is resolved', () => {
    expect(withStoredKeys({ ...apiKey('CANARY') })).to.deep.equal(apiKey(sha256('CANARY')));
    const route = { name: 'r', match: {} };
    expect(withStoredKeys(route)).to.equal(route);
  });
});
