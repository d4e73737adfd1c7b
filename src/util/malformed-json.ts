// JSON that may be malformed: of peers, of files that were cut off, of other programs.

/** Returns the value, or undefined for what is no JSON: no JSON stands for undefined. */
export function jsonOf(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : textOf(json));
  } catch {
    return undefined;
  }
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
