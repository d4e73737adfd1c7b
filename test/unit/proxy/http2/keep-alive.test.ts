// Keep-alive of an upstream connection: a PING after silence, and not so often that gRPC servers count it as abuse.
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { Http2ClientConnection } from '../../../../src/proxy/http2/client/client-session.ts';
import { FrameBatcher } from '../../../../src/proxy/http2/frame-batcher.ts';
import type { ByteSocket } from '../../../../src/proxy/socket/byte-socket.ts';
import { Wheel } from '../../../../src/proxy/wheel.ts';
import { frame, framesIn, settings } from '../../../support/http2-frames.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** As much of a socket as the connection uses. */
class Socket extends EventEmitter {
  readonly writableLength = 0;
  readonly security = undefined;
  receiver: { onBytes(bytes: Buffer, length: number): void } | undefined;
  pings = 0;
  ended = false;
  write(bytes: Uint8Array): boolean {
    this.pings += framesIn(Buffer.from(bytes)).filter(({ type }) => type === 'PING').length;
    return true;
  }
  resume(): void {}
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    this.ended = true;
  }
  destroySoon(): void {
    this.ended = true;
  }
}

describe('a silent upstream of HTTP/2', () => {
  const opened = () => {
    const clock = new ManualClock();
    const acts: (() => void)[] = [];
    const wheel = new Wheel(clock);
    const socket = new Socket();
    const batcher = new FrameBatcher(
      (act) => acts.push(act),
      () => 0,
    );
    const owner = { onRoom() {}, onIdle() {}, onGone() {}, takeHttp1: () => false, cancelHttp1() {} };
    const options = { wheel, responseHeaderMs: 0, idleMs: 90_000, batcher };
    const connection = new Http2ClientConnection(socket as unknown as ByteSocket, owner, options);
    const hear = (bytes: Buffer): void => socket.receiver?.onBytes(bytes, bytes.length);
    const wait = (ms: number): void => {
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        for (const act of acts.splice(0)) act();
      }
    };
    hear(settings());
    const stream = connection.begin();
    if (stream === undefined) throw new Error('no room');
    return { socket, connection, hear, wait, stream };
  };
  const answered = frame('PING', 1, 0, Buffer.alloc(8));

  it('gets a PING after 20 s, and is closed without an answer within 10 s', () => {
    const { socket, connection, wait } = opened();
    wait(19_500);
    expect(socket.pings).to.equal(0);
    wait(1_000);
    expect(socket.pings).to.equal(1);
    wait(9_000);
    expect(connection.ended).to.equal(false);
    wait(1_500);
    expect(connection.ended).to.equal(true);
  });

  it('that answers gets another PING after five minutes, or 20 s after its next message', () => {
    const { socket, connection, hear, wait } = opened();
    wait(21_000);
    hear(answered);
    wait(300_000);
    expect(socket.pings).to.equal(1);
    wait(11_000);
    expect(socket.pings).to.equal(2);
    hear(answered);
    connection.onMessage();
    wait(30_500);
    expect(socket.pings).to.equal(3);
  });
});
