// Addresses: `<prefix>/ui/<page>?<query>`. The prefix is the one of the document, so that the pages work behind any path.
import { computed, signal } from '@preact/signals';
import { pages, type Slug } from './pages.ts';

/** Path in front of `/ui/`. */
export const prefix = location.pathname.replace(/\/ui\/[^/]*$/, '');

const current = signal(location.pathname + location.search);

const parsed = computed(() => new URL(current.value, location.origin));

/** Page of the address; the first one for an unknown address. */
export const page = computed<Slug>(() => {
  const slug = parsed.value.pathname.split('/').at(-1);
  return pages.find((each) => each.slug === slug)?.slug ?? 'overview';
});

export const query = computed(() => parsed.value.searchParams);

export function hrefOf(slug: Slug, parameters: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(parameters).toString();
  return `${prefix}/ui/${slug}${text === '' ? '' : `?${text}`}`;
}

export function go(slug: Slug, parameters: Readonly<Record<string, string>> = {}): void {
  const to = hrefOf(slug, parameters);
  if (to === current.value) return;
  history.pushState(null, '', to);
  current.value = to;
  scrollTo(0, 0);
}

/** Goes to another query of the same page without a step of the history. */
export function replace(slug: Slug, parameters: Readonly<Record<string, string>>): void {
  const to = hrefOf(slug, parameters);
  history.replaceState(null, '', to);
  current.value = to;
}

addEventListener('popstate', () => {
  current.value = location.pathname + location.search;
});
