// Takes the symbols of a linker and of debuggers out of an ELF executable, of whichever processor: a system loads segments,
// and nothing behind the last of them.

const elf64 = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);

/** Returns the file without sections that no segment has. Throws when it is no 64-bit little-endian ELF file. */
export function stripped(file) {
  if (!file.subarray(0, elf64.length).equals(elf64)) throw new Error('no ELF file of 64 bits');
  const programHeaders = Number(file.readBigUInt64LE(0x20));
  const size = file.readUInt16LE(0x36);
  const count = file.readUInt16LE(0x38);
  let end = programHeaders + size * count;
  for (let n = 0; n < count; n++) {
    const at = programHeaders + n * size;
    end = Math.max(end, Number(file.readBigUInt64LE(at + 0x08) + file.readBigUInt64LE(at + 0x20)));
  }
  const result = Buffer.from(file.subarray(0, end));
  // No table of sections: offset, number and the index of their names.
  result.writeBigUInt64LE(0n, 0x28);
  result.writeUInt16LE(0, 0x3c);
  result.writeUInt16LE(0, 0x3e);
  return result;
}
