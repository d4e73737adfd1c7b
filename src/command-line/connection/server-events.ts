// Server-sent events of a stream of the API, one after the other.
import type { IncomingMessage } from 'node:http';
import { CommandFailure, exitCodes } from '../exit.ts';

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Silence after which a stream counts as broken: servers send a comment every 15 s. */
const silenceMaxMs = 60_000;

/** Yields events until the stream ends. Rejects with CommandFailure where it breaks off. */
export async function* serverEvents(answer: IncomingMessage): AsyncGenerator<ServerEvent> {
  answer.setTimeout(silenceMaxMs, () => answer.destroy(new Error('the stream is silent')));
  answer.setEncoding('utf8');
  let rest = '';
  for await (const part of partsOf(answer)) {
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

async function* partsOf(answer: IncomingMessage): AsyncGenerator<string> {
  try {
    for await (const part of answer) yield part as string;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(exitCodes.unreachable, `the stream broke off: ${why}`);
  }
}
