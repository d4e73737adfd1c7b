// Reading decoded messages without trusting them: what is not of the expected type is as if it were absent.

export type Message = Readonly<Record<string, unknown>>;

export const messageIn = (of: Message | undefined, name: string): Message | undefined => {
  const value = of?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
    ? (value as Message)
    : undefined;
};

export const messagesIn = (of: Message | undefined, name: string): readonly Message[] => {
  const value = of?.[name];
  return Array.isArray(value) ? value.filter((each): each is Message => typeof each === 'object' && each !== null) : [];
};

export const textIn = (of: Message | undefined, name: string): string => {
  const value = of?.[name];
  return typeof value === 'string' ? value : '';
};

export const textsIn = (of: Message | undefined, name: string): readonly string[] => {
  const value = of?.[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
};

export const numberIn = (of: Message | undefined, name: string): number => {
  const value = of?.[name];
  return typeof value === 'number' ? value : 0;
};

/** Undefined when the field is not there or empty. */
export const bytesIn = (of: Message | undefined, name: string): Buffer | undefined => {
  const value = of?.[name];
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
};
