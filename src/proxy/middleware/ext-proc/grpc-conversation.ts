// Processing over gRPC: one stream per exchange, one answer per message, in our own protocol and in Envoy's (contract.md
// §8.6.2, architecture.md §6.28, §6.29). The two differ in their messages and in what the end of a stream means.
import { ExternalFailure, notAwaited, timedOut } from '../../external/external-failure.ts';
import type { Call, CallReceiver } from '../../external/grpc-call.ts';
import type { ReportIgnored } from '../../external/ignored-fields.ts';
import type { TracedCall } from '../../tracing/exchange-trace.ts';
import { Timed } from '../../wheel.ts';
import type { Answer, Conversation, PhaseMessage, ProcessorTools } from './answer.ts';

export interface ProcessorDialect {
  /** `/package.Service/Method` */
  readonly path: string;
  encode(message: PhaseMessage): Uint8Array;
  /** Throws for what cannot be read. A number: the service asks for so many milliseconds more. */
  decode(bytes: Buffer, ignored: ReportIgnored): Answer | number;
  /** Meaning of a stream that the service ends in good order without having answered the message. */
  readonly cleanEnd: 'goOn' | 'askAgain';
}

export const openGrpc =
  (dialect: ProcessorDialect) =>
  (tools: ProcessorTools): Conversation =>
    new GrpcConversation(dialect, tools);

interface Waiting {
  readonly bytes: Uint8Array;
  /**
   * True for the last message of an observer: it needs no answer, and the observer is done when it has seen the end.
   */
  readonly isLast: boolean;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (failure: unknown) => void;
}

class GrpcConversation extends Timed implements Conversation {
  readonly #dialect: ProcessorDialect;
  readonly #tools: ProcessorTools;
  #call: Call | undefined;
  #traced: TracedCall | undefined;
  #waiting: Waiting | undefined;
  /** Messages answered so far. */
  #answered = 0;
  #askedAgain = false;
  #goesOn = false;

  constructor(dialect: ProcessorDialect, tools: ProcessorTools) {
    super();
    this.#dialect = dialect;
    this.#tools = tools;
  }

  ask(message: PhaseMessage, timeoutMs: number): Promise<Answer> {
    if (this.#goesOn) return Promise.resolve({ kind: 'goOn' });
    return new Promise((resolve, reject) => {
      this.#askedAgain = false;
      this.#waiting = { bytes: this.#dialect.encode(message), isLast: message.observeOnly, resolve, reject };
      this.#arm(timeoutMs);
      this.#send();
    });
  }

  end(): void {
    this.#traced?.end(0, this.#waiting === undefined ? '' : 'aborted');
    if (this.#waiting !== undefined) this.#fail(notAwaited());
    this.#call?.leave();
    this.#call = undefined;
  }

  override onDeadline(): void {
    this.#traced?.end(0, 'timeout');
    this.#call?.cancel();
    this.#call = undefined;
    this.#fail(timedOut());
  }

  #arm(timeoutMs: number): void {
    if (timeoutMs > 0) this.#tools.wheel.arm(this, timeoutMs);
  }

  #send(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    try {
      this.#call ??= this.#open();
      this.#call.send(waiting.bytes);
      if (waiting.isLast) this.#call.end();
    } catch (error) {
      this.#traced?.end(0, 'unavailable');
      this.#call = undefined;
      this.#fail(error);
    }
  }

  #open(): Call {
    const channel = this.#tools.services.grpc(this.#tools.destinationId);
    if (channel === undefined) throw new ExternalFailure('destination missing');
    const { path } = this.#dialect;
    const traced = this.#tools.traced(path.slice(1), 'grpc');
    this.#traced = traced;
    const receiver: CallReceiver = {
      onMessage: (bytes) => this.#hear(bytes),
      onEnd: (failure) => {
        traced?.end(0, failure === undefined ? '' : 'unavailable');
        // Events of an abandoned stream do not concern the one in its place.
        if (this.#call === call) this.#onEnd(failure);
      },
    };
    const call: Call = channel.call(path, receiver, { traceparent: traced?.traceparent });
    return call;
  }

  #hear(bytes: Buffer): void {
    if (this.#waiting === undefined) return;
    try {
      const answer = this.#dialect.decode(bytes, this.#tools.ignored);
      if (typeof answer === 'number') this.#moreTime(answer);
      else this.#settle(answer);
    } catch {
      this.#traced?.end(0, 'unreadable');
      this.#call?.cancel();
      this.#call = undefined;
      this.#fail(new ExternalFailure('the answer cannot be read'));
    }
  }

  #moreTime(ms: number): void {
    const { timeoutMsMax } = this.#tools;
    if (timeoutMsMax > 0 && ms > 0) this.#arm(Math.min(ms, timeoutMsMax));
  }

  #onEnd(failure: ExternalFailure | undefined): void {
    this.#call = undefined;
    if (failure === undefined && this.#dialect.cleanEnd === 'goOn') {
      this.#goesOn = true;
      this.#settle({ kind: 'goOn' });
    } else if (failure === undefined && this.#answered > 0 && !this.#askedAgain && this.#waiting !== undefined) {
      this.#askedAgain = true;
      this.#send();
    } else this.#fail(failure ?? new ExternalFailure('ended without an answer'));
  }

  #settle(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#tools.wheel.remove(this);
    this.#answered++;
    waiting?.resolve(answer);
  }

  #fail(failure: unknown): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#tools.wheel.remove(this);
    waiting?.reject(failure);
  }
}
