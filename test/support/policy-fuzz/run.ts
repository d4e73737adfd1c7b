// Sends mutated requests through a node with every middleware and says what should not have happened. The same seed sends
// the same bytes.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { preface } from '../../../src/proxy/http2/frame.ts';
import { settings } from '../http2-frames.ts';
import { seededRandom } from '../mutation.ts';
import { readHttp1Answers, readHttp2Answers } from './answers.ts';
import { Bystanders } from './bystanders.ts';
import { type GuardedNode, limit, startGuardedNode } from './guarded-node.ts';
import { type Attempt, drawAttempt } from './inputs.ts';
import { http1Bytes, http2Frames } from './rendering.ts';

export interface PolicyFuzz {
  readonly seed: number;
  /** Requests in all, over both versions of HTTP. */
  readonly requests: number;
  /** Connections at once. */
  readonly connections?: number;
  readonly progress?: (sent: number) => void;
}

export interface PolicyFuzzOutcome {
  readonly findings: readonly string[];
  readonly sent: number;
  /** Answers by status, over each version. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests that reached the upstream, by area. */
  readonly reached: Readonly<Record<string, number>>;
  readonly bystanders: { readonly asked: number; readonly slowestMs: number };
  /** Resident memory in MiB after a fifth of the requests, and at the end. */
  readonly memory: readonly [number, number];
}

/** Growth of resident memory that is no leak: heaps of three threads reach their usual size. */
const growthMax = 192;
/** A connection without a byte for so long has no more to say. */
const quietMs = 300;
const perConnection = 3;

export async function fuzzPolicies({
  seed,
  requests,
  connections = 48,
  progress,
}: PolicyFuzz): Promise<PolicyFuzzOutcome> {
  const node = await startGuardedNode();
  const bystanders = new Bystanders(node.port);
  const startedAt = performance.now();
  const findings: string[] = [];
  const statuses: Record<string, number> = {};
  const total = Math.ceil(requests / perConnection);
  let next = 0;
  let early = 0;
  const work = async () => {
    for (let run = next++; run < total && findings.length < 20 && node.sluice.child.exitCode === null; run = next++) {
      const random = seededRandom(seed * 1_000_003 + run);
      const attempts = Array.from({ length: perConnection }, (_, i) => drawAttempt(random, `${run}-${i}`));
      const version = run % 2 === 0 ? 'h1' : 'h2';
      const bytes = version === 'h1' ? http1Bytes(random, attempts) : http2Bytes(random, attempts);
      const received = await exchanged(node.port, bytes);
      const mayBeHead = bytes.includes('HEAD');
      const heard =
        version === 'h1' ? readHttp1Answers(received.toString('latin1'), mayBeHead) : readHttp2Answers(received);
      for (const status of heard.statuses)
        statuses[`${version} ${status}`] = (statuses[`${version} ${status}`] ?? 0) + 1;
      if (heard.fault !== undefined)
        findings.push(`run ${run} over ${version}: ${heard.fault} in ${shown(received)} to ${shown(bytes)}`);
      if (run === Math.floor(total / 5)) early = residentMiB(node);
      if (run % 1_000 === 0) progress?.(run * perConnection);
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, work));
    const late = residentMiB(node);
    await bystanders.stop();
    if (late > early + growthMax) findings.push(`memory grew from ${early} to ${late} MiB`);
    const reached = Object.fromEntries(node.services.reached);
    const seconds = (performance.now() - startedAt) / 1000;
    const allowed = limit.burst + limit.requestsPerSecond * (seconds + 2);
    if ((reached.limit ?? 0) > allowed) findings.push(`${reached.limit} of at most ${allowed} passed the rate limit`);
    const { exitCode } = node.sluice.child;
    if (exitCode !== null) findings.push(`the node ended with ${exitCode}`);
    await node.stop();
    return {
      findings: [
        ...findings,
        ...node.services.findings,
        ...bystanders.findings,
        ...complaints(node),
        ...forgedLines(node),
      ],
      ...{ sent: requests, statuses, reached, memory: [early, late] },
      bystanders: { asked: bystanders.asked, slowestMs: Math.round(bystanders.slowestMs) },
    };
  } finally {
    await bystanders.stop();
    await node.stop();
  }
}

const shown = (bytes: Buffer): string => JSON.stringify(bytes.toString('latin1').slice(0, 1_500));

function http2Bytes(random: () => number, attempts: readonly Attempt[]): Buffer {
  return Buffer.concat([preface, settings(), ...attempts.map((attempt, i) => http2Frames(random, attempt, 2 * i + 1))]);
}

/** All that comes back until the other side closes or has no more to say. */
function exchanged(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(bytes));
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve(Buffer.concat(chunks)));
  });
}

function residentMiB({ sluice }: GuardedNode): number {
  const status = readFileSync(`/proc/${sluice.child.pid}/status`, 'utf8');
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}

/** Lines of its own log that no request may cause. */
const complaints = ({ sluice }: GuardedNode): string[] =>
  sluice.output.filter((line) => /"level":"?(error|fatal|50|60)/.test(line)).slice(0, 10);

/** Lines of access logs that hold more, less or other than their three fields. */
function forgedLines({ logs }: GuardedNode): string[] {
  const linesOf = (file: string) => readFileSync(file, 'utf8').split('\n').slice(0, -1);
  const isLine = /^path=(?:"(?:[^"\\]|\\.)*"|[^\s="]*) agent=(?:"(?:[^"\\]|\\.)*"|[^\s="]*) status=\d{1,3}$/;
  const wrong = linesOf(logs.text).filter((line) => !isLine.test(line));
  const odd = linesOf(logs.json).filter((line) => !hasFields(line, ['agent', 'path', 'status']));
  return [...wrong, ...odd].slice(0, 10).map((line) => `access log ${JSON.stringify(line)}`);
}

function hasFields(line: string, names: readonly string[]): boolean {
  try {
    return Object.keys(JSON.parse(line)).sort().join() === names.join();
  } catch {
    return false;
  }
}
