import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { HelloReader } from '../../../../src/proxy/tls/client-hello.ts';
import { makeHello } from '../../../support/client-hello.ts';

/** Returns the ClientHello of a client of Node's. */
async function helloOf(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  const [socket] = await accepted;
  const [bytes] = await once(socket, 'data');
  socket.destroy();
  client.destroy();
  server.close();
  return bytes;
}

describe('reading of a ClientHello', () => {
  let hello: Buffer;
  before(async () => {
    hello = await helloOf('a.wild.test');
  });

  /** The same message in records of so many bytes. */
  const inRecords = (size: number): Buffer => {
    const message = hello.subarray(5);
    const records: Buffer[] = [];
    for (let at = 0; at < message.length; at += size) {
      const part = message.subarray(at, at + size);
      records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
    }
    return Buffer.concat(records);
  };

  it('finds the server name, in any number of records', () => {
    for (const bytes of [hello, inRecords(1), inRecords(100), inRecords(400)]) {
      expect(new HelloReader().read(bytes)).to.deep.include({ serverName: 'a.wild.test' });
      expect(new HelloReader().read(Buffer.concat([bytes, Buffer.from('more')]))).to.deep.include({
        serverName: 'a.wild.test',
      });
    }
  });

  it('waits for an incomplete hello', () => {
    for (const bytes of [hello, inRecords(100)])
      for (let length = 0; length < bytes.length; length++)
        expect(new HelloReader().read(bytes.subarray(0, length))).to.equal('more');
  });

  it('finds the server name piece by piece, looking at each byte once', () => {
    for (const bytes of [hello, inRecords(1), inRecords(7)]) {
      const reader = new HelloReader();
      for (let length = 1; length < bytes.length; length++)
        expect(reader.read(bytes.subarray(0, length))).to.equal('more');
      expect(reader.read(bytes)).to.deep.include({ serverName: 'a.wild.test' });
    }
  });

  it('leaves other bytes, and endless ones, to OpenSSL', () => {
    expect(new HelloReader().read(Buffer.from('GET / HTTP/1.1'))).to.equal('other');
    expect(new HelloReader().read(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0]))).to.equal('other');
    expect(new HelloReader().read(Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]))).to.equal('other');
    expect(new HelloReader({ message: 100, received: 65_536 }).read(hello), 'above the bound').to.equal('other');
    expect(new HelloReader({ message: 65_536, received: 100 }).read(hello.subarray(0, 101))).to.equal('other');
    expect(new HelloReader().read(Buffer.alloc(70_000, Buffer.from([22, 3, 1, 0, 0])))).to.equal('other');
  });

  it('takes no server name that is longer than a name of DNS', () => {
    const named = (length: number) =>
      new HelloReader({ message: 65_536, received: 65_536 }).read(makeHello({ serverName: 'a'.repeat(length) }));
    expect(named(255)).to.deep.include({ serverName: 'a'.repeat(255) });
    for (const length of [256, 60_000]) expect(named(length)).to.equal('other');
  });

  it('gives a result for any content', () => {
    for (let at = 5; at < hello.length; at++)
      for (const value of [0, 1, 127, 255]) {
        const changed = Buffer.from(hello);
        changed[at] = value;
        expect(() => new HelloReader().read(changed), `${at} ${value}`).not.to.throw();
      }
  });
});
