// A client that speaks TLS to a listener, one request per connection.
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

export interface SecureAnswer {
  /** Received bytes, one character each. */
  readonly text: string;
  readonly reused: boolean;
  readonly version: string | null;
  readonly protocol: string | false | null;
  /** Subject of the certificate that the server showed. */
  readonly shown: string;
  /** The last ticket that came. */
  readonly session: Buffer | undefined;
}

/** Sends the request once the handshake is done, and waits until the server closes. Rejects when there is no handshake. */
export function ask(port: number, options: ConnectionOptions = {}, request = plainRequest): Promise<SecureAnswer> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    let text = '';
    let session: Buffer | undefined;
    let about: Omit<SecureAnswer, 'text' | 'session'> | undefined;
    socket.on('secureConnect', () => {
      about = {
        reused: socket.isSessionReused(),
        version: socket.getProtocol(),
        protocol: socket.alpnProtocol,
        shown: socket.getPeerX509Certificate()?.subject ?? '',
      };
      socket.write(request);
    });
    socket.on('session', (ticket: Buffer) => {
      session = ticket;
    });
    socket.on('data', (chunk: Buffer) => {
      // A ticket that takes the place of an earlier one is not told of in TLS 1.2.
      if (socket.getProtocol() === 'TLSv1.2') session = socket.getSession() ?? session;
      text += chunk.toString('latin1');
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (about === undefined || text === '') reject(new Error('the server closed the connection'));
      else resolve({ ...about, text, session });
    });
  });
}

const plainRequest = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

export const bodyOf = ({ text }: SecureAnswer): string => text.slice(text.indexOf('\r\n\r\n') + 4);

/** A connection under TLS; rejects when there is no handshake. */
export function secureClient(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', reject);
  });
}
