// Response head of a stream of server-sent events, the same for all streams.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Interval of TCP keep-alive, which finds a peer that vanished without closing, even while no event is due. */
const keepAliveMs = 15_000;

/** Sends the head on a response that has none yet. Returns false where the response ends there: `HEAD`, or `closed`. */
export function beginEvents(response: ServerResponse, closed: boolean, headers: OutgoingHttpHeaders = {}): boolean {
  const { httpVersion, method } = response.req;
  // HTTP/1.0 has no chunks: the end of the connection ends the stream. A stream outlives the wish to close.
  const closes = httpVersion === '1.0' || (method === 'HEAD' && !response.shouldKeepAlive);
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    Connection: closes ? 'close' : 'keep-alive',
    'X-Accel-Buffering': 'no',
    ...headers,
  });
  if (method === 'HEAD' || closed) {
    response.end();
    return false;
  }
  response.flushHeaders();
  response.socket?.setKeepAlive(true, keepAliveMs);
  return true;
}
