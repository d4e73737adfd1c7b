// Buffered stream of log lines. Each write to the stream below wakes a thread of the pool and, when it is done, the main
// thread again, once for every write through the API; so lines are batched for a moment.
import type { DestinationStream } from 'pino';

/** Stream that is written to without waiting, and that can be flushed synchronously when the process ends. */
export interface LineSink {
  write(text: string): unknown;
  flushSync(): void;
}

/** Milliseconds that a line waits for others. */
const gatherMs = 25;
/** Characters from which a batch is written at once. */
const gatherMax = 32 * 1024;

/** Returns a stream that batches lines. Lines left at the exit of the process are written by the callback given to `onExit`. */
export function bufferedLogStream(sink: LineSink, onExit: (run: () => void) => void): DestinationStream {
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
