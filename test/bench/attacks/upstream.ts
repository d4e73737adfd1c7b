// An upstream of HTTP/1.1 with small and large responses; says on which port. A process of its own.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const large = Buffer.alloc(1 << 20, 'x');
const server = createServer((request, response) => {
  request.resume();
  if (request.url === '/good') response.end('good');
  else if (request.url === '/large') response.end(large);
});
await once(server.listen(0, '127.0.0.1'), 'listening');
process.on('disconnect', () => process.exit());
process.send?.((server.address() as AddressInfo).port);
