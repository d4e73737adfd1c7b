// CRC-32C (Castagnoli), the checksum of LevelDB's files; RFC 3720 appendix B.4 has test vectors. Node's zlib has only
// the other polynomial.

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit++)
    remainder = (remainder & 1) === 1 ? (remainder >>> 1) ^ 0x82f6_3b78 : remainder >>> 1;
  return remainder;
});

export function crc32c(bytes: Uint8Array): number {
  let remainder = 0xffff_ffff;
  for (let at = 0; at < bytes.length; at++) remainder = table[(remainder ^ bytes[at]!) & 0xff]! ^ (remainder >>> 8);
  return (remainder ^ 0xffff_ffff) >>> 0;
}

/** As LevelDB stores it: a checksum of bytes that hold checksums would be weak. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) >>> 0;
}
