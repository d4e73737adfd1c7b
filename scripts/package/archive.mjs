// Archives with nothing of the machine in them: owner 0, one date, entries in the order they are given (POSIX ustar).
import { gzipSync } from 'node:zlib';

const block = 512;
const nameBytes = 100;

/**
 * Returns a tar archive.
 *
 * @param entries `{path, mode, bytes}`, a folder where the path ends with `/`, a symbolic link with `target`
 * @param date seconds since 1970
 */
export function tar(entries, date) {
  const parts = [];
  for (const { path, mode, bytes = Buffer.alloc(0), target, uid = 0, gid = 0 } of entries) {
    parts.push(header({ path, mode, size: bytes.length, target, uid, gid, date }), bytes);
    parts.push(Buffer.alloc((block - (bytes.length % block)) % block));
  }
  parts.push(Buffer.alloc(2 * block));
  return Buffer.concat(parts);
}

/** Returns bytes as gzip has them, without date and name. */
export const gzip = (bytes) => gzipSync(bytes, { level: 9 });

/** Returns entries of every folder above `entries`, before what is in it. */
export function withFolders(entries) {
  const made = new Set();
  return entries.flatMap((entry) => {
    const names = entry.path.split('/').slice(0, -1);
    const folders = names.map((_, at) => `${names.slice(0, at + 1).join('/')}/`);
    const fresh = folders.filter((path) => path !== './' && path !== entry.path && !made.has(path));
    for (const path of [...fresh, entry.path]) made.add(path);
    return [...fresh.map((path) => ({ path, mode: 0o755 })), entry];
  });
}

function header({ path, mode, size, target, uid, gid, date }) {
  const type = target !== undefined ? '2' : path.endsWith('/') ? '5' : '0';
  if (Buffer.byteLength(path) > nameBytes) throw new Error(`${path} is too long for an archive`);
  const bytes = Buffer.alloc(block);
  bytes.write(path, 0);
  number(bytes, 100, 8, mode);
  number(bytes, 108, 8, uid);
  number(bytes, 116, 8, gid);
  number(bytes, 124, 12, size);
  number(bytes, 136, 12, date);
  bytes.fill(' ', 148, 156);
  bytes.write(type, 156);
  if (target !== undefined) bytes.write(target, 157);
  bytes.write('ustar\0' + '00', 257);
  bytes.write(
    `${bytes
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  return bytes;
}

const number = (bytes, at, length, value) => bytes.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
