export function checkKey(key: string): void;
export function sign(file: string, key: string): string;
