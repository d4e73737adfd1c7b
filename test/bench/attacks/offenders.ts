// Attacks a proxy for as long as it is told by each message, and says then what came of it. A process of its own.
import { connect, type Socket } from 'node:net';
import { type Attack, type AttackName, attacks } from './attacks.ts';

export interface Order {
  readonly port: number;
  readonly name: AttackName;
  readonly seconds: number;
  readonly offenders: number;
}

export interface Told {
  readonly connections: number;
  /** Lifetimes of the connections that were ended. */
  readonly livedMs: readonly number[];
}

/** Milliseconds between two connections of an offender, and between two parts that it sends. */
const pauseMs = 50;

async function attack(port: number, how: Attack, seconds: number, offenders: number): Promise<Told> {
  const livedMs: number[] = [];
  let connections = 0;
  const open = new Set<Socket>();
  const untilMs = performance.now() + seconds * 1_000;
  const isOver = (): boolean => performance.now() >= untilMs;
  /** Opens connections, one after another, and goes on on each until it is closed. */
  const offend = (): void => {
    if (isOver()) return;
    const socket = connect(port, '127.0.0.1');
    const startedMs = performance.now();
    let said = 0;
    connections++;
    open.add(socket);
    const more = (): void => {
      if (socket.destroyed || isOver()) return;
      const parts: Buffer[] = [];
      for (let i = 0; i < how.times; i++) parts.push(how.part(2 * said++ + 1));
      if (socket.write(Buffer.concat(parts))) setTimeout(more, pauseMs);
      else socket.once('drain', () => setTimeout(more, pauseMs));
    };
    socket.write(how.opening);
    if (how.times > 0) more();
    if (how.leavesAfterMs !== undefined) setTimeout(() => socket.destroy(), how.leavesAfterMs);
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      if (!isOver()) livedMs.push(performance.now() - startedMs);
      setTimeout(offend, pauseMs);
    });
  };
  for (let i = 0; i < offenders; i++) offend();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  for (const socket of open) socket.destroy();
  return { connections, livedMs };
}

process.on('message', async ({ port, name, seconds, offenders }: Order) => {
  process.send?.(await attack(port, attacks[name], seconds, offenders));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
