// A plain connection. `drain` follows only what the system did not take at once.

import { arrived, type ByteSocket, drainedBytesMin } from './byte-socket.ts';
import { HandleSocket } from './handle-socket.ts';
import type { Security } from './security.ts';
import { onWriteDone, type StreamRequest, streamState, type TcpHandle, writeRequest } from './stream-handle.ts';

export interface TcpSocketOptions {
  /** FIN of the other side is not answered by itself. */
  readonly halfOpen: boolean;
  /** The handle reads into `arrived` already. */
  readonly attached?: boolean;
}

/** Not used by any write that is under way. */
let spare: StreamRequest | undefined;

export class TcpSocket extends HandleSocket implements ByteSocket {
  readonly security: Security | undefined = undefined;

  /** Takes over the connection, and with it the duty to close it. It reads from the first `resume` on. */
  constructor(handle: TcpHandle, { halfOpen, attached = false }: TcpSocketOptions) {
    super(handle, handle, halfOpen);
    if (!attached) handle.useUserBuffer(arrived);
  }

  /** False: `drain` follows. What is written after the end is dropped. */
  write(data: string | Uint8Array, _encoding?: 'latin1'): boolean {
    if (!this.writable) return true;
    const { stream } = this;
    spare ??= writeRequest();
    const request = spare;
    const status =
      typeof data === 'string' ? stream.writeLatin1String(request, data) : stream.writeBuffer(request, data);
    if (status === 0 && !streamState.lastWriteIsAsync) return true;
    spare = undefined;
    if (status !== 0) {
      this.fail(status, 'write');
      return true;
    }
    request.owner = this;
    request.data = data;
    request.oncomplete = onWriteDone;
    this.writableLength += data.length;
    return this.writableLength < drainedBytesMin;
  }

  /** What came lies in `arrived`. */
  override onRead(count: number): void {
    if (count > 0) this.receiver?.onBytes(arrived, count);
    else if (count === streamState.endOfFile) this.finishReading();
    else if (count < 0) this.fail(count, 'read');
  }

  override onWritten(status: number, length: number): void {
    this.writableLength -= length;
    if (this.destroyed) return;
    if (status < 0) this.fail(status, 'write');
    else if (this.writableLength === 0) this.tell('drain');
  }
}
