// Bodies on their way through (proxy.md, Bodies): connections, streams, buffers and transforms are sources and sinks
// of bytes, and `pump` joins two of them. Nothing is buffered between them but what a slow sink has not taken yet.
import type { ProxyError } from './proxy-error.ts';

export interface BodySource {
  /** Begins to deliver. Called once; what has arrived already may be delivered before it returns. */
  start(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** Nobody wants the rest. */
  abort(why: ProxyError): void;
}

export interface BodySink {
  /** Whom to wake when there is room again. */
  from(source: BodySource): void;
  /**
   * Takes the chunk, which is overwritten once the call returns. False: the source pauses by itself until its `resume`
   * is called.
   */
  data(chunk: Buffer): boolean;
  /** `trailers` are whole field lines as text, or empty. */
  end(trailers: string): void;
  /** The rest will not come. */
  fail(why: ProxyError): void;
}

export function pump(source: BodySource, sink: BodySink): void {
  sink.from(source);
  source.start(sink);
}
