// Discarded response: the rest of a response that a retry replaces. A short one is read to its end, so that its
// connection can be reused; any other ends its connection.
import type { BodySink, BodySource } from '../message/body.ts';
import type { ResponseHead } from '../message/response.ts';
import type { ResponseReceiver, UpstreamStream } from '../message/upstream-stream.ts';
import { Timed, type Wheel } from '../wheel.ts';

const bytesMax = 16 * 1024;
const withinMs = 1_000;

/** `receiver`: the former receiver of the response. */
export function discardResponse(
  stream: UpstreamStream,
  receiver: ResponseReceiver,
  head: ResponseHead,
  body: BodySource,
  wheel: Wheel,
): void {
  const short = head.bodyKind === 'none' || (head.bodyKind === 'length' && head.bodyLength <= bytesMax);
  if (short) body.start(new Discarded(stream, receiver, wheel));
  else stream.destroy(receiver);
}

class Discarded extends Timed implements BodySink {
  readonly #stream: UpstreamStream;
  readonly #receiver: ResponseReceiver;
  readonly #wheel: Wheel;

  constructor(stream: UpstreamStream, receiver: ResponseReceiver, wheel: Wheel) {
    super();
    this.#stream = stream;
    this.#receiver = receiver;
    this.#wheel = wheel;
    wheel.arm(this, withinMs);
  }

  from(): void {}

  data(): boolean {
    return true;
  }

  end(): void {
    this.#wheel.remove(this);
  }

  fail(): void {
    this.#wheel.remove(this);
  }

  override onDeadline(): void {
    this.#stream.destroy(this.#receiver);
  }
}
