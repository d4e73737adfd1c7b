// The shortest way to a proxied request: one listener, one upstream, one route, one snapshot.
import { apiClient } from './api-client.ts';
import { freePort } from './free-port.ts';

/** Resolves with the address of a listener that sends everything to the upstream. */
export async function forwardEverything(apiUrl: string, upstreamPort: number, host = '127.0.0.1'): Promise<string> {
  const api = apiClient(apiUrl);
  const port = await freePort();
  await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
  await api.create('destinations', { id: 'd', name: 'd', host, port: upstreamPort });
  await api.create('routes', { name: 'all', forward: { destinations: [{ destinationId: 'd' }] } });
  await api.activateAs('v1');
  return `http://127.0.0.1:${port}`;
}
