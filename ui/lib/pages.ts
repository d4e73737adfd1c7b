// Pages of the dashboard: one list for the navigation, the addresses and the headings.

export interface Page {
  /** Last segment of the address, `/ui/<slug>`. */
  readonly slug: string;
  readonly title: string;
  /** Heading above it in the navigation. */
  readonly group: 'See' | 'Configure' | 'Change' | 'Diagnose' | 'Operate';
  /** Letter behind `g` that goes there. */
  readonly key?: string;
}

export const pages = [
  { slug: 'overview', title: 'Overview', group: 'See', key: 'o' },
  { slug: 'topology', title: 'Topology', group: 'See', key: 't' },
  { slug: 'routes', title: 'Routes', group: 'Configure', key: 'r' },
  { slug: 'destinations', title: 'Destinations', group: 'Configure', key: 'd' },
  { slug: 'middlewares', title: 'Middlewares', group: 'Configure', key: 'm' },
  { slug: 'consumers', title: 'Consumers', group: 'Configure' },
  { slug: 'listeners', title: 'Listeners', group: 'Configure', key: 'l' },
  { slug: 'groups', title: 'Groups', group: 'Configure', key: 'p' },
  { slug: 'staged', title: 'Staged', group: 'Change', key: 's' },
  { slug: 'snapshots', title: 'Snapshots', group: 'Change', key: 'n' },
  { slug: 'rollout', title: 'Rollout', group: 'Change', key: 'u' },
  { slug: 'explain', title: 'Explain', group: 'Diagnose', key: 'e' },
  { slug: 'requests', title: 'Requests', group: 'Diagnose', key: 'q' },
  { slug: 'fleet', title: 'Fleet', group: 'Operate', key: 'f' },
  { slug: 'cluster', title: 'Cluster', group: 'Operate', key: 'c' },
  { slug: 'secrets', title: 'Secrets', group: 'Operate' },
  { slug: 'keys', title: 'Keys', group: 'Operate' },
  { slug: 'log-levels', title: 'Log levels', group: 'Operate' },
] as const satisfies readonly Page[];

/** Headings of the navigation, in order. */
export const pageGroups = [
  'See',
  'Configure',
  'Change',
  'Diagnose',
  'Operate',
] as const satisfies readonly Page['group'][];

export type Slug = (typeof pages)[number]['slug'];

export const titleOf = (slug: Slug): string => pages.find((page) => page.slug === slug)?.title ?? 'Overview';
