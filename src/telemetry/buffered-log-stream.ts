// Lines of the log on their way to a stream that writes by the pool. Each such write wakes a thread and, when it is done,
// the main thread again, once for every write through the API; so lines gather for a moment and leave together.
import type { DestinationStream } from 'pino';

/** A stream that is written to without waiting, and that can be emptied at once when the process ends. */
export interface LineSink {
  write(text: string): unknown;
  flushSync(): void;
}

/** So long a line waits for others, milliseconds. */
const gatherMs = 25;
/** So much is not kept back for more, characters. */
const gatherMax = 32 * 1024;

/** Returns a stream that batches lines. Lines left at the exit of the process are written by the callback given to `onExit`. */
export function gatheredLines(sink: LineSink, onExit: (run: () => void) => void): DestinationStream {
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (text !== '') sink.write(text);
    text = '';
  };
  onExit(() => {
    send();
    sink.flushSync();
  });
  return {
    write(line) {
      text += line;
      if (text.length > gatherMax) send();
      else timer ??= setTimeout(send, gatherMs).unref();
    },
  };
}
