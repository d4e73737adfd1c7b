import { type DataPlaneSettings, dataPlaneSettings } from '../../src/settings/data-plane-settings.ts';
import { parseSettings } from '../../src/settings/settings.ts';
import { givenSockets } from './given-sockets.ts';

/** Settings of a data plane on loopback with one worker, with others in their place. */
export function loopbackDataPlane(more: Partial<DataPlaneSettings> = {}): DataPlaneSettings {
  const { proxy, controlPlane } = parseSettings('', {});
  const usual = dataPlaneSettings(proxy, {
    shutdownTimeoutMs: controlPlane.shutdownTimeoutMs,
    recent: { slots: 0, headers: [], query: [] },
  });
  return { ...usual, workers: 1, bindAddress: '127.0.0.1', ...(givenSockets && { sockets: givenSockets }), ...more };
}
