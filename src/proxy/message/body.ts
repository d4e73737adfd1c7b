// Body streams (proxy.md, Bodies): connections, streams, buffers and transforms are sources and sinks of bytes, and
// `pump` joins two of them. Only bytes that a slow sink has not taken are buffered between them.
import type { ProxyError } from './proxy-error.ts';

export interface BodySource {
  /** Starts delivery. Called once; bytes that have arrived already may be delivered before it returns. */
  start(sink: BodySink): void;
  pause(): void;
  resume(): void;
  /** Cancels the rest of the body. */
  abort(why: ProxyError): void;
}

export interface BodySink {
  /** Names the source that the sink resumes when there is room again. */
  from(source: BodySource): void;
  /**
   * Takes the chunk, which is overwritten once the call returns. Returning false pauses the source until its `resume`
   * is called.
   */
  data(chunk: Buffer): boolean;
  /** Ends the body. `trailers` are whole field lines as text, or empty. */
  end(trailers: string): void;
  /** Ends the body early: the rest will not arrive. */
  fail(why: ProxyError): void;
}

export function pump(source: BodySource, sink: BodySink): void {
  sink.from(source);
  source.start(sink);
}
