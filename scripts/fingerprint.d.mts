export function fingerprint(root: string, paths: readonly string[]): string;
export function recordedFingerprint(root: string, paths: readonly string[], record: string, now?: number): string;
export function readStamp(file: string): string | undefined;
