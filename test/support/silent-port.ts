// A port of a stopped process with a full backlog: a client that connects gets no answer at all, as from a host that is
// gone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface SilentPort {
  readonly port: number;
  /** Lets it answer from now on. The system repeats a SYN a second after the first. */
  wake(): void;
  close(): void;
}

const listen = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  console.log(this.address().port);
})`;

export async function silentPort(): Promise<SilentPort> {
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  const port = Number(line);
  child.kill('SIGSTOP');
  const sockets: Socket[] = [];
  // One after the other: what comes while there is room is taken, what comes then is not heard.
  while (sockets.every((socket) => !socket.connecting)) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    sockets.push(socket);
    await once(socket, 'connect', { signal: AbortSignal.timeout(500) }).catch(() => undefined);
  }
  return {
    port,
    wake() {
      child.kill('SIGCONT');
    },
    close() {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}
