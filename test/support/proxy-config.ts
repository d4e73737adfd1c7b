import type { ProxyConfig } from '../../src/model/proxy-config.ts';

/** A configuration without entities. */
export const config = (parts: Partial<ProxyConfig> = {}): ProxyConfig => ({
  index: 1,
  id: 'snapshot-1',
  name: 'first',
  createdAt: '2031-07-01T00:00:00.000Z',
  snapshot: { listeners: [], destinations: [], routes: [], groups: [], middlewares: [] },
  ...parts,
});
