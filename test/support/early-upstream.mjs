// An upstream in a thread of its own that answers 413 as soon as a request begins, and closes with the body unread, so
// that the system resets the connection. workerData: `tls`, undefined for a plain one.
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';

const answer = 'HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large';

const take = (socket) => {
  socket.on('error', () => {});
  socket.once('data', () => {
    socket.pause();
    socket.end(answer, () => socket.destroy());
  });
};

const server = workerData.tls === undefined ? createServer(take) : createTlsServer(workerData.tls, take);
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
