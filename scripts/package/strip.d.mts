export function stripped(file: Buffer): Buffer;
