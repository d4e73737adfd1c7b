// A stream of server-sent events as a test follows it.
import { createParser } from 'eventsource-parser';

export interface FollowedStream {
  readonly status: number;
  /** Events received so far. */
  readonly events: readonly { readonly event: string; readonly data: unknown; readonly id?: string }[];
  readonly ended: boolean;
  close(): void;
}

export async function followStream(url: string, headers: Record<string, string> = {}): Promise<FollowedStream> {
  const cut = new AbortController();
  const answer = await fetch(url, { headers, signal: cut.signal });
  const events: { event: string; data: unknown; id?: string }[] = [];
  const state = { ended: false };
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) =>
      void events.push({ event, data: JSON.parse(data), ...(id !== undefined && { id }) }),
  });
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      state.ended = true;
    });
  return {
    status: answer.status,
    events,
    get ended() {
      return state.ended;
    },
    close: () => cut.abort(),
  };
}
