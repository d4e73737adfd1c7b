// Namespaces that a listener or a Gateway takes routes or listeners from.
import type { ObjectStore } from './object-store.ts';

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface AllowedNamespaces {
  readonly from: 'All' | 'Selector' | 'Same' | 'None';
  readonly selector?: LabelSelector;
}

/** Returns whether objects of `namespace` are taken by an object of `own`. */
export function takesFrom(
  store: ObjectStore,
  { from, selector }: AllowedNamespaces,
  own: string,
  namespace: string,
): boolean {
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return namespace === own;
    case 'None':
      return false;
    case 'Selector':
      return (
        selector !== undefined && selects(selector, store.read('Namespace', undefined, namespace)?.metadata.labels)
      );
  }
}

function selects(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>> = {},
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'Exists') return value !== undefined;
      if (operator === 'DoesNotExist') return value === undefined;
      if (operator === 'In') return value !== undefined && values.includes(value);
      return operator === 'NotIn' && (value === undefined || !values.includes(value));
    })
  );
}
