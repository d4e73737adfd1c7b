// Annotation of a Gateway by which changes of it and of its routes become active step by step.
import type { KubernetesObject } from '../../kubernetes/objects.ts';

const name = 'sluice.dev/rollout';

/** Returns the text of the annotation. */
export const rolloutText = (gateway: KubernetesObject | undefined): string | undefined =>
  gateway?.metadata.annotations?.[name];

/** Settings of rollouts (docs/reference/fleet.md §7), or what is wrong with the annotation. */
export type RolloutWish =
  | { readonly settings: object; readonly problem?: undefined }
  | { readonly settings?: undefined; readonly problem: string };

/** Wish of a Gateway, named by its holder of entities. */
export type GatewayRollout = RolloutWish & { readonly gateway: string };

/** `progressive`: steps and guards of Sluice's own; a JSON object: the body of a rollout. Returns undefined without one. */
export function rolloutWish(gateway: KubernetesObject): RolloutWish | undefined {
  const text = rolloutText(gateway);
  if (text === undefined || text === 'none') return undefined;
  if (text === 'progressive') return { settings: {} };
  const problem = `annotation ${name} must be progressive, none or a JSON object`;
  try {
    const settings: unknown = JSON.parse(text);
    const isObject = typeof settings === 'object' && settings !== null && !Array.isArray(settings);
    return isObject ? { settings } : { problem };
  } catch {
    return { problem };
  }
}
