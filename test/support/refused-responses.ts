// S04 and the response side of S01: what an upstream may not say. The client gets 502 and the connection is not used
// again.

const head = (fields: string, body = ''): string => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`;

export const refusedResponses: readonly (readonly [string, string])[] = [
  ['Content-Length and Transfer-Encoding', head('Content-Length: 5\r\nTransfer-Encoding: chunked', '0\r\n\r\n')],
  ['Transfer-Encoding and Content-Length', head('Transfer-Encoding: chunked\r\nContent-Length: 5', '0\r\n\r\n')],
  ['two different Content-Length', head('Content-Length: 5\r\nContent-Length: 6', 'hello')],
  ['the same Content-Length twice', head('Content-Length: 5\r\nContent-Length: 5', 'hello')],
  ['a sign in Content-Length', head('Content-Length: +5', 'hello')],
  ['an empty Content-Length', head('Content-Length:', 'hello')],
  ['a list in Content-Length', head('Content-Length: 5, 5', 'hello')],
  ['an unknown Transfer-Encoding', head('Transfer-Encoding: gzip', 'x')],
  ['gzip before chunked', head('Transfer-Encoding: gzip, chunked', '0\r\n\r\n')],
  ['Transfer-Encoding in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a blank before the colon', head('Content-Length : 5', 'hello')],
  ['a folded line', head('X: a\r\n b\r\nContent-Length: 0')],
  ['a bare LF', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
  ['a bare CR in a value', head('X: a\rSet-Cookie: b=c\r\nContent-Length: 0')],
  ['a NUL in a value', head('X: a\0b\r\nContent-Length: 0')],
  ['an empty field name', head(': a\r\nContent-Length: 0')],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a status below 100', 'HTTP/1.1 099 No\r\nContent-Length: 0\r\n\r\n'],
  ['HTTP/2.0', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a minor version that is no digit', 'HTTP/1.x 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ['a body before any head', 'hello, this is not a response\r\n\r\n'],
];
