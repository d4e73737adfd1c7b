// Server-sent events of a stream of the API, one after the other.
import type { IncomingMessage } from 'node:http';

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Yields events until the stream ends. */
export async function* serverEvents(answer: IncomingMessage): AsyncGenerator<ServerEvent> {
  // Comments keep it alive every 15 s: a stream without any is broken.
  answer.setTimeout(60_000, () => answer.destroy(new Error('the stream is silent')));
  answer.setEncoding('utf8');
  let rest = '';
  for await (const part of answer) {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const lines = block.split('\n');
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice(6));
      const event = lines.find((line) => line.startsWith('event: '))?.slice(7) ?? 'message';
      if (data.length > 0) yield { event, data: data.join('\n') };
    }
  }
}
