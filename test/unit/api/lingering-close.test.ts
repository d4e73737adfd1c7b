// Lingering close of a connection of the API whose request was refused before its body was read.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { lingeringClose } from '../../../src/api/lingering-close.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('a lingering close', () => {
  let server: Server | undefined;

  afterEach(() => server?.close());

  it('lets a client write a body above the limit of large batches before it reads its answer', async () => {
    server = createServer((socket) => {
      socket.pause();
      socket.write('refused');
      lingeringClose(socket, new ManualClock());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.pause();
    const piece = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < 129; sent += 1)
      await new Promise<void>((resolve, reject) => socket.write(piece, (error) => (error ? reject(error) : resolve())));
    const data = once(socket, 'data');
    socket.resume();
    const [answer] = await data;
    expect(String(answer)).to.equal('refused');
    socket.destroy();
  });
});
