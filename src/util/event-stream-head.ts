// How a response of server-sent events begins, whatever its events say.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** A peer that vanished without a word is found by TCP, even while nothing can be written to it. */
const keepAliveMs = 15_000;

/** Of a response that nothing was written to. False: it ends with its head, for `HEAD` asks for no more or `closed`. */
export function beginEvents(response: ServerResponse, closed: boolean, headers: OutgoingHttpHeaders = {}): boolean {
  const { httpVersion, method } = response.req;
  // Without chunks HTTP/1.0 tells the end of the stream by that of the connection. A stream outlives the wish to close.
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
