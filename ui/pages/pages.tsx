// The page of the address.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../lib/api.ts';
import type { Slug } from '../lib/pages.ts';
import { page } from '../lib/router.ts';
import { Problem } from '../parts/basics.tsx';
import { Overview } from './overview.tsx';

/** Pages that are fetched when they are opened for the first time. */
const loaders: Readonly<Record<Exclude<Slug, 'overview'>, () => Promise<ComponentType>>> = {
  topology: async () => (await import('./topology.tsx')).Topology,
  routes: async () => (await import('./routes.tsx')).Routes,
  destinations: async () => (await import('./entities.tsx')).Destinations,
  middlewares: async () => (await import('./entities.tsx')).Middlewares,
  consumers: async () => (await import('./entities.tsx')).Consumers,
  listeners: async () => (await import('./entities.tsx')).Listeners,
  groups: async () => (await import('./entities.tsx')).Groups,
  staged: async () => (await import('./staged.tsx')).Staged,
  snapshots: async () => (await import('./snapshots.tsx')).Snapshots,
  rollout: async () => (await import('./rollout.tsx')).RolloutPage,
  explain: async () => (await import('./explain.tsx')).Explain,
  requests: async () => (await import('./requests.tsx')).Requests,
  fleet: async () => (await import('./fleet.tsx')).FleetPage,
  cluster: async () => (await import('./cluster.tsx')).ClusterPage,
  secrets: async () => (await import('./entities.tsx')).Secrets,
  keys: async () => (await import('./keys.tsx')).Keys,
  'log-levels': async () => (await import('./settings.tsx')).LogLevelsPage,
};

const loaded = new Map<Slug, ComponentType>([['overview', Overview]]);

export function Pages() {
  const slug = page.value;
  const [, setCount] = useState(0);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    setProblem(undefined);
    if (slug === 'overview' || loaded.has(slug)) return;
    loaders[slug]().then(
      (component) => {
        loaded.set(slug, component);
        setCount((count) => count + 1);
      },
      (error: unknown) => setProblem(messageOf(error)),
    );
  }, [slug]);
  const Component = loaded.get(slug);
  if (problem !== undefined) return <Problem text={problem} />;
  return Component === undefined ? <p>Loading …</p> : <Component key={slug} />;
}
