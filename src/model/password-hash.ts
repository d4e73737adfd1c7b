// Hashes of passwords as htpasswd lines and PHC strings write them: bcrypt, argon2id, scrypt and SHA-512-crypt. Others are
// too fast to withstand guessing. Bounds keep one verification to some seconds and 256 MiB.

export type PasswordHash =
  | { readonly by: 'bcrypt'; readonly cost: number; readonly salt: Buffer; readonly hash: Buffer }
  | { readonly by: 'sha512Crypt'; readonly rounds: number; readonly salt: Buffer; readonly hash: Buffer }
  | {
      readonly by: 'argon2id';
      /** KiB. */
      readonly memory: number;
      readonly passes: number;
      readonly parallelism: number;
      readonly salt: Buffer;
      readonly hash: Buffer;
    }
  | {
      readonly by: 'scrypt';
      /** Base-2 logarithm of N. */
      readonly logN: number;
      readonly blockSize: number;
      readonly parallelization: number;
      readonly salt: Buffer;
      readonly hash: Buffer;
    };

const bcryptCosts = [4, 14] as const;
const sha512Rounds = { least: 1000, most: 500_000, default: 5000 } as const;
const memoryBytesMax = 256 * 1024 * 1024;
const passesMax = 16;
const lanesMax = 16;

/** Text of a hash with all that it depends on: equal hashes have equal texts. */
export const passwordHashText = ({ salt, hash, ...parameters }: PasswordHash): string =>
  `${JSON.stringify(parameters)} ${salt.toString('base64')} ${hash.toString('base64')}`;

/** Returns the hash, or its problem as the end of a sentence. */
export function parsePasswordHash(text: string): PasswordHash | string {
  if (/^\$2[aby]\$/.test(text)) return bcryptOf(text);
  if (text.startsWith('$6$')) return sha512CryptOf(text);
  if (text.startsWith('$argon2id$')) return argon2idOf(text);
  if (text.startsWith('$scrypt$')) return scryptOf(text);
  return 'has no hash of bcrypt, argon2id, scrypt or SHA-512-crypt';
}

/** Base64 of bcrypt has the bits of the usual one, and another alphabet. */
const crypt64 = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const usual64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function bcryptOf(text: string): PasswordHash | string {
  const [, cost = '', salt = '', hash = ''] =
    /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/.exec(text) ?? [];
  if (hash === '') return 'has a malformed hash of bcrypt';
  const [least, most] = bcryptCosts;
  if (Number(cost) < least || Number(cost) > most) return `has a cost of bcrypt outside of ${least} to ${most}`;
  return { by: 'bcrypt', cost: Number(cost), salt: ofCrypt64(salt), hash: ofCrypt64(hash) };
}

const ofCrypt64 = (text: string): Buffer =>
  Buffer.from([...text].map((letter) => usual64[crypt64.indexOf(letter)] ?? '').join(''), 'base64');

/** Alphabet of SHA-512-crypt, whose bits are in an order of their own. */
const shaAlphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function sha512CryptOf(text: string): PasswordHash | string {
  const [, , rounds, salt = '', letters = ''] =
    /^\$6\$(rounds=(\d{1,9})\$)?([^$:\s]{0,16})\$([./0-9A-Za-z]{86})$/.exec(text) ?? [];
  if (letters === '') return 'has a malformed hash of SHA-512-crypt';
  const { least, most } = sha512Rounds;
  const count = rounds === undefined ? sha512Rounds.default : Number(rounds);
  if (count < least || count > most) return `has rounds of SHA-512-crypt outside of ${least} to ${most}`;
  return { by: 'sha512Crypt', rounds: count, salt: Buffer.from(salt, 'utf8'), hash: ofShaLetters(letters) };
}

/** Four letters are three bytes, the lowest bits first: those at 0, 21 and 42, then turned around by one each time. */
function ofShaLetters(letters: string): Buffer {
  const hash = Buffer.alloc(64);
  for (let group = 0; group < 21; group++) {
    let bits = 0;
    for (let i = 3; i >= 0; i--) bits = (bits << 6) | shaAlphabet.indexOf(letters[4 * group + i] ?? '');
    const places = [group, group + 21, group + 42];
    const turn = group % 3;
    // The order of the three turns left with each group: (0 21 42), (22 43 1), (44 2 23) …
    const [high = 0, middle = 0, low = 0] = [0, 1, 2].map((i) => places[(i + turn) % 3] ?? 0);
    hash[high] = bits >> 16;
    hash[middle] = (bits >> 8) & 255;
    hash[low] = bits & 255;
  }
  hash[63] = shaAlphabet.indexOf(letters[84] ?? '') | (shaAlphabet.indexOf(letters[85] ?? '') << 6);
  return hash;
}

function argon2idOf(text: string): PasswordHash | string {
  const phc = phcOf(text, /^\$argon2id\$v=19\$([^$]*)\$([^$]*)\$([^$]*)$/, ['m', 't', 'p']);
  if (phc === undefined) return 'has a malformed hash of argon2id: $argon2id$v=19$m=…,t=…,p=…$salt$hash is expected';
  const [memory = 0, passes = 0, parallelism = 0] = phc.numbers;
  if (passes < 1 || parallelism < 1 || memory < 8 * parallelism) return 'has parameters that argon2id does not allow';
  if (memory * 1024 > memoryBytesMax || passes > passesMax || parallelism > lanesMax)
    return `asks argon2id for more than 256 MiB, ${passesMax} passes or ${lanesMax} lanes`;
  if (phc.salt.length < 8) return 'has a salt of argon2id below 8 bytes';
  return { by: 'argon2id', memory, passes, parallelism, salt: phc.salt, hash: phc.hash };
}

function scryptOf(text: string): PasswordHash | string {
  const phc = phcOf(text, /^\$scrypt\$([^$]*)\$([^$]*)\$([^$]*)$/, ['ln', 'r', 'p']);
  if (phc === undefined) return 'has a malformed hash of scrypt: $scrypt$ln=…,r=…,p=…$salt$hash is expected';
  const [logN = 0, blockSize = 0, parallelization = 0] = phc.numbers;
  if (logN < 1 || blockSize < 1 || parallelization < 1) return 'has parameters that scrypt does not allow';
  if (128 * 2 ** logN * blockSize > memoryBytesMax || parallelization > lanesMax)
    return `asks scrypt for more than 256 MiB or ${lanesMax} lanes`;
  return { by: 'scrypt', logN, blockSize, parallelization, salt: phc.salt, hash: phc.hash };
}

interface Phc {
  readonly numbers: readonly number[];
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Reads a PHC string: parameters by name, salt and hash in Base64 without padding. */
function phcOf(text: string, pattern: RegExp, names: readonly string[]): Phc | undefined {
  const [, parameters = '', salt = '', hash = ''] = pattern.exec(text) ?? [];
  const given = new Map(
    parameters.split(',').map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)] as const),
  );
  const numbers = names.map((name) => (/^\d{1,9}$/.test(given.get(name) ?? '') ? Number(given.get(name)) : Number.NaN));
  if (given.size !== names.length || numbers.some(Number.isNaN)) return undefined;
  if (!base64.test(salt) || !base64.test(hash)) return undefined;
  const bytes = Buffer.from(hash, 'base64');
  return bytes.length < 16 || bytes.length > 64
    ? undefined
    : { numbers, salt: Buffer.from(salt, 'base64'), hash: bytes };
}

const base64 = /^[A-Za-z0-9+/]+$/;
