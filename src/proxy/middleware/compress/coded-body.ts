// Body that passes a coder: one chunk is with the coder at a time, and the source waits meanwhile. While the sink takes
// nothing, the coder stands still and holds no turn on the thread pool.
import type { BodySink, BodySource } from '../../message/body.ts';
import type { ProxyError } from '../../message/proxy-error.ts';
import type { PoolTurns, TurnTaker } from '../pool-turns.ts';
import type { BodyCoder } from './coder.ts';

/** Malformed content, content that grew too much, or no memory for it. */
export type CodingRefusal = 'malformed' | 'too large' | 'busy';

export interface CodedBodyOptions {
  readonly source: BodySource;
  /** Returns the coder; called with the first turn, so that bodies that wait for one hold none. */
  readonly open: () => BodyCoder;
  readonly turns: PoolTurns;
  /** Kind of flush once the source has nothing more at hand; undefined: the coder decides when bytes leave. */
  readonly flushKind: number | undefined;
  /** Called when the sink has got bytes outside of an event of the source. */
  readonly onProgress: () => void;
  /** Returns why the body must not grow by so many bytes, or undefined; `received` bytes have come in so far. */
  readonly growth?: (bytes: number, received: number) => CodingRefusal | undefined;
  /** Called once instead of all that follows. */
  readonly onRefused: (why: CodingRefusal) => void;
}

export class CodedBody implements BodySource, BodySink, TurnTaker {
  readonly #options: CodedBodyOptions;
  #sink: BodySink | undefined;
  #opened: BodyCoder | undefined;
  #waiting: Buffer[] = [];
  #trailers: string | undefined;
  /** Bytes of the source, and those that have left the coder. */
  #received = 0;
  #produced = 0;
  /** Step that the coder carries out, or will once it has a turn. */
  #step: ((opened: BodyCoder) => void) | undefined;
  /** True once the coder has the step. */
  #started = false;
  #asksTurn = false;
  #hasTurn = false;
  #sinkFull = false;
  #sourceWaits = false;
  /** True when written bytes may still be inside the coder. */
  #unflushed = false;
  #ending = false;
  /** True once a coder that goes on has all of the body. */
  #finished = false;
  /** True once a decoder has found the end of its content. */
  #whole = false;
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
    this.#options.source.start(this);
  }

  pause(): void {
    if (this.#over) return;
    this.#sinkFull = true;
    this.#opened?.coder.pause();
    if (this.#asksTurn) this.#options.turns.cancel(this);
    this.#asksTurn = false;
    this.#releaseTurn();
  }

  resume(): void {
    if (this.#over || !this.#sinkFull) return;
    this.#sinkFull = false;
    if (this.#step !== undefined) this.#takeTurn();
    else {
      this.#opened?.coder.resume();
      if (this.#finished) this.#onDrained();
      else this.#advance();
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
    this.#opened?.coder.destroy();
  }

  from(_source: BodySource): void {}

  data(chunk: Buffer): boolean {
    if (this.#over) return true;
    this.#received += chunk.length;
    if (this.#whole) {
      this.#onWhole();
      return true;
    }
    this.#waiting.push(Buffer.from(chunk));
    this.#sourceWaits = true;
    this.#advance();
    return false;
  }

  end(trailers: string): void {
    this.#trailers = trailers;
    if (this.#whole) this.#onWhole();
    else this.#advance();
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
    const { flushKind, source } = this.#options;
    const chunk = this.#waiting.shift();
    if (chunk !== undefined) {
      this.#unflushed = true;
      this.#begin(({ coder }) => coder.write(chunk, this.#onStep));
      return;
    }
    if (this.#trailers !== undefined) {
      this.#ending = true;
      this.#begin(this.#complete);
      return;
    }
    if (this.#sourceWaits) {
      this.#sourceWaits = false;
      source.resume();
      if (this.#step !== undefined || this.#sinkFull || this.#over) return;
    }
    if (flushKind === undefined || !this.#unflushed) return;
    this.#unflushed = false;
    this.#begin(({ coder }) => coder.flush(flushKind, this.#onStep));
  }

  /** The step that completes a body follows within the turn of the last chunk: its coder is soon free for another body. */
  #begin(step: (opened: BodyCoder) => void): void {
    this.#step = step;
    if (this.#hasTurn && this.#ending) {
      this.#run();
      return;
    }
    this.#releaseTurn();
    this.#takeTurn();
  }

  readonly #complete = ({ coder, finishKind }: BodyCoder): void => {
    if (finishKind === undefined) coder.end();
    else coder.flush(finishKind, this.#onFinished);
  };

  #takeTurn(): void {
    if (this.#asksTurn || this.#hasTurn) return;
    this.#asksTurn = true;
    this.#options.turns.take(this);
  }

  /** Starts the step, or lets a coder go on that stood still. */
  #run(): void {
    const opened = this.#opened ?? this.#open();
    opened.coder.resume();
    if (this.#started) return;
    this.#started = true;
    this.#step?.(opened);
  }

  #open(): BodyCoder {
    const opened = this.#options.open();
    opened.coder.on('data', this.#onCoded);
    opened.coder.on('end', this.#onEnd);
    opened.coder.on('error', this.#onError);
    this.#opened = opened;
    return opened;
  }

  readonly #onStep = (): void => {
    this.#started = false;
    this.#step = undefined;
    if (this.#over) {
      this.#releaseTurn();
      return;
    }
    this.#options.onProgress();
    this.#advance();
    if (this.#step === undefined) this.#releaseTurn();
  };

  readonly #onFinished = (): void => {
    this.#finished = true;
    this.#step = undefined;
    this.#onDrained();
    this.#releaseTurn();
  };

  readonly #onCoded = (chunk: Buffer): void => {
    this.#produced += chunk.length;
    if (this.#over) return;
    const refusal = this.#options.growth?.(chunk.length, this.#received);
    if (refusal !== undefined) {
      this.#refuse(refusal);
      return;
    }
    if (this.#sink?.data(chunk) === false) this.pause();
    if (this.#finished) this.#onDrained();
  };

  /** Ends the body once all that has left the coder is with the sink. */
  #onDrained(): void {
    if (!this.#over && !this.#sinkFull && this.#opened?.coder.readableLength === 0) this.#end();
  }

  /** A decoder ends with its content, which may be before the end of the body: the source is asked for the rest. */
  readonly #onEnd = (): void => {
    if (this.#over) return;
    this.#whole = true;
    this.#releaseTurn();
    if (this.#trailers === undefined) this.#options.source.resume();
    this.#onWhole();
  };

  /** Bytes behind the end of the content are none of it: no reader would agree about them. */
  #onWhole(): void {
    if (this.#over) return;
    if (this.#isDecoder && this.#received !== this.#opened?.coder.bytesWritten) this.#refuse('malformed');
    else if (this.#trailers !== undefined) this.#end();
  }

  readonly #onError = (): void => this.#refuse('malformed');

  get #isDecoder(): boolean {
    return this.#options.growth !== undefined;
  }

  #end(): void {
    this.#over = true;
    const { coder, release } = this.#opened ?? {};
    coder?.off('data', this.#onCoded);
    coder?.off('end', this.#onEnd);
    coder?.off('error', this.#onError);
    release?.();
    // The next body may use the coder within this call.
    this.#releaseTurn();
    this.#sink?.end(this.#trailers ?? '');
    this.#options.onProgress();
  }

  #refuse(why: CodingRefusal): void {
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
