// Body that passes a coder: one chunk is with the coder at a time, and the source waits meanwhile. While the sink takes
// nothing, the coder stands still and holds no turn on the thread pool.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { PoolTurns, TurnTaker } from '../pool-turns.ts';
import type { Coder } from './coder.ts';

export interface CodedBodyOptions {
  readonly source: BodySource;
  readonly coder: Coder;
  readonly turns: PoolTurns;
  /** Kind of flush once the source has nothing more at hand; undefined: the coder decides when bytes leave. */
  readonly flushKind: number | undefined;
  /** Called when the sink has got bytes outside of an event of the source. */
  readonly onProgress: () => void;
  /** Returns false when the body must not grow by so many bytes; `received` bytes have come in so far. */
  readonly mayGrow?: (bytes: number, received: number) => boolean;
  /** Called once instead of all that follows: the content is malformed, or grew too much. */
  readonly onRefused: (why: 'malformed' | 'too large') => void;
}

export class CodedBody implements BodySource, BodySink, TurnTaker {
  readonly #options: CodedBodyOptions;
  #sink: BodySink | undefined;
  #waiting: Buffer[] = [];
  #trailers: string | undefined;
  /** Bytes of the source, and those that have left the coder. */
  #received = 0;
  #produced = 0;
  /** Step that the coder carries out, or will once it has a turn. */
  #step: (() => void) | undefined;
  /** True once the coder has the step. */
  #started = false;
  #asksTurn = false;
  #hasTurn = false;
  #sinkFull = false;
  #sourceWaits = false;
  /** True when written bytes may still be inside the coder. */
  #unflushed = false;
  #ending = false;
  #over = false;

  constructor(options: CodedBodyOptions) {
    this.#options = options;
  }

  get received(): number {
    return this.#received;
  }

  get produced(): number {
    return this.#produced;
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    const { coder, source } = this.#options;
    coder.on('data', (chunk: Buffer) => this.#onCoded(chunk));
    coder.on('end', () => this.#onEnd());
    coder.on('error', () => this.#refuse('malformed'));
    source.start(this);
  }

  pause(): void {
    if (this.#over) return;
    this.#sinkFull = true;
    this.#options.coder.pause();
    if (this.#asksTurn) this.#options.turns.cancel(this);
    this.#asksTurn = false;
    this.#releaseTurn();
  }

  resume(): void {
    if (this.#over || !this.#sinkFull) return;
    this.#sinkFull = false;
    if (this.#step !== undefined) this.#takeTurn();
    else {
      this.#options.coder.resume();
      this.#advance();
    }
  }

  abort(why: ProxyError): void {
    this.close();
    this.#options.source.abort(why);
  }

  /** Releases the coder; nothing follows. The source is left alone. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#waiting = [];
    this.#options.turns.cancel(this);
    this.#releaseTurn();
    this.#options.coder.destroy();
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#received += chunk.length;
    this.#waiting.push(Buffer.from(chunk));
    this.#sourceWaits = true;
    this.#advance();
    return false;
  }

  end(trailers: string): void {
    this.#trailers = trailers;
    this.#advance();
  }

  fail(why: ProxyError): void {
    if (this.#over) return;
    this.close();
    this.#sink?.fail(why);
  }

  onTurn(): void {
    this.#asksTurn = false;
    this.#hasTurn = true;
    this.#run();
  }

  /** Starts the next step, or asks the source for more. */
  #advance(): void {
    if (this.#step !== undefined || this.#sinkFull || this.#over || this.#ending) return;
    const { coder, flushKind, source } = this.#options;
    const chunk = this.#waiting.shift();
    if (chunk !== undefined) {
      this.#unflushed = true;
      this.#begin(() => coder.write(chunk, this.#onStep));
      return;
    }
    if (this.#trailers !== undefined) {
      this.#begin(() => {
        this.#ending = true;
        coder.end();
      });
      return;
    }
    if (this.#sourceWaits) {
      this.#sourceWaits = false;
      source.resume();
      if (this.#step !== undefined || this.#sinkFull || this.#over) return;
    }
    if (flushKind === undefined || !this.#unflushed) return;
    this.#unflushed = false;
    this.#begin(() => coder.flush(flushKind, this.#onStep));
  }

  #begin(step: () => void): void {
    this.#step = step;
    this.#takeTurn();
  }

  #takeTurn(): void {
    if (this.#asksTurn || this.#hasTurn) return;
    this.#asksTurn = true;
    this.#options.turns.take(this);
  }

  /** Starts the step, or lets a coder go on that stood still. */
  #run(): void {
    this.#options.coder.resume();
    if (this.#started) return;
    this.#started = true;
    this.#step?.();
  }

  readonly #onStep = (): void => {
    this.#started = false;
    this.#step = undefined;
    this.#releaseTurn();
    if (this.#over) return;
    this.#options.onProgress();
    this.#advance();
  };

  #onCoded(chunk: Buffer): void {
    this.#produced += chunk.length;
    if (this.#over) return;
    if (this.#options.mayGrow?.(chunk.length, this.#received) === false) {
      this.#refuse('too large');
      return;
    }
    if (this.#sink?.data(chunk) === false) this.pause();
  }

  #onEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#releaseTurn();
    this.#sink?.end(this.#trailers ?? '');
    this.#options.onProgress();
  }

  #refuse(why: 'malformed' | 'too large'): void {
    if (this.#over) return;
    this.close();
    this.#options.onRefused(why);
  }

  #releaseTurn(): void {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    this.#options.turns.release();
  }
}
