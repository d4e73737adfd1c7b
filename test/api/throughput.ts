// Measures the API with ten thousand routes: node --import ./test/support/decorators.mjs test/api/throughput.ts
// The clients run in a thread of their own, so that what is measured of the main loop is the server's.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { type Answer, call } from '../support/http-call.ts';

const count = 10_000;
const clients = 16;

interface Job {
  readonly base: string;
  readonly step: 'create' | 'list' | 'capture' | 'activate';
  readonly path?: string;
}

interface Done {
  readonly ms: number;
  readonly path: string;
  readonly bytes: number;
}

if (isMainThread) await measure();
else parentPort?.on('message', (job: Job) => void run(job).then((done) => parentPort?.postMessage(done)));

async function measure(): Promise<void> {
  const { ApiServer } = await import('../support/api-server.ts');
  const { checkConfig } = await import('../../src/proxy/config-check.ts');
  const api = await ApiServer.start({ checkConfig });
  const worker = new Worker(new URL(import.meta.url));
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const step = async (job: Omit<Job, 'base'>): Promise<Done> => {
    delay.reset();
    delay.enable();
    const done = await new Promise<Done>((resolve) => {
      worker.once('message', resolve);
      worker.postMessage({ base: api.base, ...job });
    });
    delay.disable();
    const blocked = (delay.max / 1e6).toFixed(0);
    console.log(`${job.step}: ${done.ms.toFixed(0)} ms, ${done.bytes} bytes, main loop blocked at most ${blocked} ms`);
    return done;
  };
  const { ms } = await step({ step: 'create' });
  console.log(`  ${((count / ms) * 1000).toFixed(0)} routes a second by ${clients} clients`);
  await step({ step: 'list' });
  await step({ step: 'list' });
  const { path } = await step({ step: 'capture' });
  await step({ step: 'activate', path });
  await worker.terminate();
  await api.stop();
}

async function run({ base, step, path = '' }: Job): Promise<Done> {
  const start = performance.now();
  const answer = await request(base, step, path);
  return { ms: performance.now() - start, path: answer.headers.location ?? '', bytes: answer.text.length };
}

async function request(base: string, step: Job['step'], path: string): Promise<Answer> {
  switch (step) {
    case 'create':
      return await createAll(base);
    case 'list':
      return await call(base, 'GET', '/api/v1/routes');
    case 'capture':
      return await call(base, 'POST', '/api/v1/snapshots', { body: { name: 'all' } });
    case 'activate':
      return await call(base, 'POST', `${path}/activate`);
  }
}

async function createAll(base: string): Promise<Answer> {
  await call(base, 'POST', '/api/v1/destinations', {
    body: { id: 'd', name: 'd', host: 'upstream.example', port: 80 },
  });
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const { status, text } = await call(base, 'POST', '/api/v1/routes', { body: route(index) });
      if (status !== 201) throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return await call(base, 'GET', '/api/v1/routes/r-1');
}

const route = (index: number) => ({
  id: `r-${index}`,
  name: `route ${index}`,
  match: { pathPrefix: `/tenant-${index}/api`, methods: ['GET', 'POST'], hostnames: ['shop.example'] },
  forward: {
    destinations: [{ destinationId: 'd' }],
    timeouts: { request: '10s' },
    retry: { attempts: 2, on: ['gateway-error'], backoff: { base: '50ms', max: '1s' } },
  },
});
