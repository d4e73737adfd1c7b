// A proxy with a fixed configuration, for the benchmark to start: `node sluice.ts <port> <upstream port> <routes> <workers>`,
// and `policies` behind it where everything is to be on that looks after upstreams.
import { systemClock } from '../../src/clock.ts';
import { createProxy } from '../../src/proxy/proxy.ts';
import { silentLogger } from '../../src/telemetry/logger.ts';

const [port = 0, upstreamPort = 0, routeCount = 1, workers = 1] = process.argv.slice(2, 6).map(Number);
const looksAfter = process.argv[6] === 'policies';

const forward = { destinations: [{ destinationId: 'd' }], ...(looksAfter && { retry: { attempts: 2 } }) };
const options = looksAfter ? { circuitBreaker: {}, outlierDetection: {}, healthCheck: { path: '/' } } : {};
const routes = Array.from({ length: routeCount - 1 }, (_, i) => ({
  id: `r${i}`,
  name: `r${i}`,
  match: { pathPrefix: `/service-${i}/api` },
  forward,
}));
const proxy = createProxy({
  clock: systemClock,
  workers,
  telemetry: { logger: silentLogger },
  source: {
    subscribe(subscriber) {
      subscriber({
        index: 1,
        id: 'bench',
        name: 'bench',
        createdAt: '2026-01-01T00:00:00Z',
        snapshot: {
          listeners: [{ id: 'l', name: 'l', address: '127.0.0.1', port, http2: true }],
          destinations: [{ id: 'd', name: 'd', host: '127.0.0.1', port: upstreamPort, options }],
          routes: [...routes, { id: 'rest', name: 'rest', match: { pathPrefix: '/' }, forward }],
          groups: [],
          middlewares: [],
        },
      });
      return () => {};
    },
  },
});
await proxy.start();
// A profile is written on exit only.
process.once('SIGTERM', () => process.exit(0));
