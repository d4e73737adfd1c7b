// Settings of the data plane of a tree, to hand to its `createProxy`.
import { existsSync } from 'node:fs';

type Settings = typeof import('../../src/settings/settings.ts');
type DataPlane = typeof import('../../src/settings/data-plane-settings.ts');

/** Returns the options that say the number of workers; a tree from before has them at their top. */
export async function settingsOf(
  tree: string,
  workers: number,
): Promise<{ settings: ReturnType<DataPlane['dataPlaneSettings']> }> {
  const path = `${tree}/src/settings/data-plane-settings.ts`;
  if (!existsSync(path)) return { workers } as never;
  const [{ parseSettings }, { dataPlaneSettings }]: [Settings, DataPlane] = await Promise.all([
    import(`${tree}/src/settings/settings.ts`),
    import(path),
  ]);
  const { proxy } = parseSettings('', {});
  const beside = { shutdownTimeoutMs: 30_000, recent: { slots: 0, headers: [], query: [] } };
  return { settings: dataPlaneSettings({ ...proxy, workers }, beside) };
}
