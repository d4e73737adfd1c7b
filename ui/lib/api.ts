// Client of the public API. The key is sent as a header, never in an address.
import { signal } from '@preact/signals';
import { prefix } from './router.ts';

export class ApiError extends Error {
  readonly status: number;
  /** Body of the answer, as sent. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === 'string' ? body.error : `the API answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

export interface Answer<T> {
  readonly body: T;
  readonly status: number;
  readonly headers: Headers;
}

const storageName = 'sluice-key';

const storedKey = (): string | undefined => {
  try {
    return sessionStorage.getItem(storageName) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Key of the API; undefined: none was typed. */
export const apiKey = signal<string | undefined>(storedKey());
/** The API asks for a key, or for another one. */
export const needsKey = signal(false);

export function keepKey(key: string, keep: boolean): void {
  apiKey.value = key;
  try {
    if (keep) sessionStorage.setItem(storageName, key);
    else sessionStorage.removeItem(storageName);
  } catch {
    // Without storage the key lasts as long as the page.
  }
}

export function forgetKey(): void {
  keepKey('', false);
  apiKey.value = undefined;
}

const headersOf = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...(apiKey.value !== undefined && { Authorization: `Bearer ${apiKey.value}` }),
  ...more,
});

/** Asks for a key, unless another one was typed since the request was sent. */
function noteRefusal(status: number, key: string | undefined): void {
  if (status === 401 && key === apiKey.value) needsKey.value = true;
}

interface Options {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Path below `/api/v1`. Throws ApiError for an answer that is no success, TypeError when there is none. */
export async function call<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const { body, headers, signal: abort } = options;
  const key = apiKey.value;
  const response = await fetch(`${prefix}/api/v1${path}`, {
    method,
    headers: headersOf(headers),
    cache: 'no-store',
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(abort && { signal: abort }),
  });
  const text = await response.text();
  const read = text === '' ? {} : parsed(text);
  if (!response.ok) {
    noteRefusal(response.status, key);
    throw new ApiError(response.status, Object(read) as Record<string, unknown>);
  }
  return { body: read as T, status: response.status, headers: response.headers };
}

export const get = async <T>(path: string, abort?: AbortSignal): Promise<T> =>
  (await call<T>('GET', path, { signal: abort })).body;

/** Body that was read, and the log index that it shows; −1 where the answer does not tell. */
export interface Read<T> {
  readonly body: T;
  readonly revision: number;
}

const revisionOf = (headers: Headers): number => Number(headers.get('X-Sluice-Revision') ?? -1);

export async function read<T>(path: string): Promise<Read<T>> {
  const { body, headers } = await call<T>('GET', path);
  return { body, revision: revisionOf(headers) };
}

export const post = async <T>(path: string, body?: unknown): Promise<T> => (await call<T>('POST', path, { body })).body;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { error: text.slice(0, 200) };
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof ApiError
    ? error.message
    : error instanceof TypeError
      ? 'the node does not answer'
      : error instanceof Error
        ? error.message
        : String(error);

/** Returns whether a failure passes by itself: no answer, or an error of the server. */
export const isPassing = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof ApiError && error.status >= 500);

export interface StreamEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads an event stream to its end. Rejects as `call` does. */
export async function follow(
  path: string,
  abort: AbortSignal,
  onEvent: (event: StreamEvent) => void,
  {
    lastEventId,
    onOpen,
  }: { readonly lastEventId?: string | undefined; readonly onOpen?: (revision: number) => void } = {},
): Promise<void> {
  const headers = headersOf(lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId });
  const key = apiKey.value;
  const response = await fetch(`${prefix}/api/v1${path}`, { headers, signal: abort, cache: 'no-store' });
  if (!response.ok || response.body === null) {
    noteRefusal(response.status, key);
    throw new ApiError(response.status, Object(parsed(await response.text())) as Record<string, unknown>);
  }
  onOpen?.(revisionOf(response.headers));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ''; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (rest + value).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const event = eventOf(frame);
      if (event !== undefined) onEvent(event);
    }
  }
}

/** Returns the event of a frame; undefined for a comment. */
function eventOf(frame: string): StreamEvent | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of frame.split('\n')) {
    const at = line.indexOf(':');
    const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, '')];
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
