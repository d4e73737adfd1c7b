// Pages of the dashboard: one list for the navigation, the addresses and the headings.

export interface Page {
  /** Last segment of the address, `/ui/<slug>`. */
  readonly slug: string;
  readonly title: string;
  /** Letter behind `g` that goes there. */
  readonly key?: string;
}

export const pages = [
  { slug: 'overview', title: 'Overview', key: 'o' },
  { slug: 'topology', title: 'Topology', key: 't' },
  { slug: 'routes', title: 'Routes', key: 'r' },
  { slug: 'destinations', title: 'Destinations', key: 'd' },
  { slug: 'middlewares', title: 'Middlewares', key: 'm' },
  { slug: 'consumers', title: 'Consumers' },
  { slug: 'listeners', title: 'Listeners', key: 'l' },
  { slug: 'groups', title: 'Groups', key: 'p' },
  { slug: 'staged', title: 'Staged', key: 's' },
  { slug: 'snapshots', title: 'Snapshots', key: 'n' },
  { slug: 'rollout', title: 'Rollout', key: 'u' },
  { slug: 'explain', title: 'Explain', key: 'e' },
  { slug: 'requests', title: 'Requests', key: 'q' },
  { slug: 'fleet', title: 'Fleet', key: 'f' },
  { slug: 'cluster', title: 'Cluster', key: 'c' },
  { slug: 'secrets', title: 'Secrets' },
  { slug: 'keys', title: 'Keys' },
  { slug: 'log-levels', title: 'Log levels' },
] as const satisfies readonly Page[];

export type Slug = (typeof pages)[number]['slug'];

export const titleOf = (slug: Slug): string => pages.find((page) => page.slug === slug)?.title ?? 'Overview';
