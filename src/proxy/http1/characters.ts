// Character classes of an HTTP/1.1 message, as tables indexed by the byte (RFC 9110 §5, RFC 9112 §3).

export const CR = 13;
export const LF = 10;
export const SP = 32;
export const HT = 9;
export const COLON = 58;

type Table = Uint8Array;

const tableOf = (admits: (byte: number) => boolean): Table =>
  Uint8Array.from({ length: 256 }, (_, b) => (admits(b) ? 1 : 0));

const isAlphanumeric = (byte: number): boolean =>
  (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);

const tokenMarks = "!#$%&'*+-.^_`|~";

/** Bytes of a token (RFC 9110 §5.6.2). */
export const tokenByte = tableOf((byte) => isAlphanumeric(byte) || tokenMarks.includes(String.fromCharCode(byte)));

/** Bytes of a field value or a reason phrase, blanks included: HTAB, SP, VCHAR, obs-text. */
export const valueByte = tableOf((byte) => byte === HT || (byte >= SP && byte !== 127));

/** Bytes of a request target: visible ASCII without `#`. */
export const targetByte = tableOf((byte) => byte > SP && byte < 127 && byte !== 35);

/** Value of a hexadecimal digit, 255 for every other byte. */
export const hexValue = Uint8Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? 255 : digit;
});
