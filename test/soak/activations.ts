// Two snapshots made live in turn. The first listener, `/steady` and its destination are the same in both; `/changing`
// goes to a destination that differs, so that its pool is let go each time; the second also opens a port of its own.
import type { ApiClient } from '../support/api-client.ts';
import { freePort } from '../support/free-port.ts';
import type { Features } from './features.ts';

export interface Activations {
  readonly count: number;
  readonly failed: readonly string[];
  stop(): Promise<void>;
}

interface Between {
  readonly port: number;
  readonly upstreamPort: number;
  readonly features: Features;
}

/** Their ids; the first is live. */
export async function twoSnapshots(
  api: ApiClient,
  { port, upstreamPort, features }: Between,
): Promise<readonly string[]> {
  const destination = (name: string) => ({
    ...{ id: name, name, host: '127.0.0.1', port: upstreamPort },
    options: features.options,
  });
  const listener = { address: '127.0.0.1' };
  await api.create('listeners', { name: 'web', ...listener, port, http2: true, ...features.listener });
  for (const name of ['steady', 'changing']) {
    await api.create('destinations', destination(name));
    const forward = { ...features.forward, destinations: [{ destinationId: name }] };
    await api.create('routes', { ...features.route, name, match: { pathPrefix: `/${name}` }, forward });
  }
  for (let number = 0; number < 100; number++) {
    const match = { pathRegex: `/item-${number}/[a-z]+(/\\d+)*` };
    await api.create('routes', { name: `item ${number}`, match, directResponse: { status: 200 } });
  }
  const first = await api.activateAs('first');
  await api.create('listeners', { name: 'more', ...listener, port: await freePort() });
  const { status } = await api.put('/destinations/changing', {
    ...destination('changing'),
    options: { ...features.options, timeouts: { connect: '4s' } },
  });
  if (status !== 200) throw new Error(`the destination could not be changed: ${status}`);
  return [first, await api.create('snapshots', { name: 'second' })];
}

export function startActivations(api: ApiClient, snapshots: readonly string[], perMinute: number): Activations {
  const failed: string[] = [];
  const state = { active: true, count: 0 };
  const run = async (): Promise<void> => {
    const startedAt = performance.now();
    while (state.active) {
      const { status, headers } = await api.post(`/snapshots/${snapshots[++state.count % snapshots.length]}/activate`);
      const installed = headers.get('x-sluice-installed');
      if (status !== 200 || installed !== '2/2') failed.push(`an activation was answered ${status}, ${installed}`);
      const dueMs = startedAt + (state.count * 60_000) / perMinute;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    }
  };
  const ended = run().catch((error: Error) => void failed.push(error.message));
  return {
    failed,
    get count() {
      return state.count;
    },
    async stop() {
      state.active = false;
      await ended;
    },
  };
}
