// Translation of manifests without a cluster: what would be written to Sluice, and what of the manifests would not be served.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { type KubernetesObject, keyFor, keyOf } from '../kubernetes/objects.ts';
import { isObject } from '../model/json-object.ts';
import { type EditableKind, editableKinds } from '../model/kinds.ts';
import { describe } from '../model/problem.ts';
import { parseEntity } from '../model/validation.ts';
import { reasonOf } from '../telemetry/error-reason.ts';
import { ClusterModel, type ClusterModelOptions, partsOf } from './cluster-model.ts';
import type { ListenerSet } from './gateway-api/listener-set.ts';
import type { Condition } from './graph/condition.ts';
import { gatewayCell, policyCell, routeCell } from './graph/controller-graph.ts';
import { type GatewayFacts, type PolicyFacts, policyKinds, type RouteFacts, routeKinds } from './graph/facts.ts';
import { type ResourceKindName, resourceKinds } from './resource-kinds.ts';

export interface OnceResult {
  /** Bodies by kind, as `POST /batch` takes them. */
  readonly entities: { readonly [kind in EditableKind]?: readonly object[] };
  /** Sentences, each with the object that it is about. */
  readonly problems: readonly string[];
}

interface Manifest {
  /** Object as it is written. */
  readonly object: unknown;
  readonly source: string;
}

/** Returns entities as YAML, without references between them. */
export const yamlOf = (entities: OnceResult['entities']): string =>
  stringify(entities, { aliasDuplicateObjects: false });

/** Reads YAML and JSON files, those of folders included. */
export function readManifests(paths: readonly string[]): Manifest[] {
  return paths.flatMap((path) => {
    if (!statSync(path).isDirectory()) return manifestsIn(path);
    const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    return names
      .filter((name) => ['.yaml', '.yml', '.json'].includes(extname(name)))
      .flatMap((name) => manifestsIn(join(path, name)));
  });
}

function manifestsIn(path: string): Manifest[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${path}: ${error.message}`);
    const value = document.toJS() as { kind?: unknown; items?: unknown } | null;
    const objects = value?.kind === 'List' ? [value.items ?? []].flat() : value === null ? [] : [value];
    return objects.map((object) => ({ object, source: path }));
  });
}

export function translateOnce(manifests: readonly Manifest[], options: ClusterModelOptions): OnceResult {
  const problems: string[] = [];
  const ignore = (): void => {};
  const unreadable = new Set<string>();
  const model = new ClusterModel(options, {
    onStatus: ignore,
    onEntities: ignore,
    onGone: ignore,
    onUnreadable(kind, key, error) {
      const name = `${kind} ${key}`;
      if (!unreadable.has(name)) problems.push(`${name} cannot be read: ${reasonOf(error)}`);
      unreadable.add(name);
    },
  });
  const namespaces = new Set<string>();
  const taken: { kind: ResourceKindName; object: KubernetesObject }[] = [];
  const keys = new Set<string>();
  for (const { object, source } of manifests) {
    const flaw = flawOf(object);
    if (flaw !== undefined) problems.push(`${source}: ${flaw}`);
    if (!isReadable(object)) continue;
    const kind = object.kind as ResourceKindName;
    if (!Object.hasOwn(resourceKinds, kind)) {
      if (!deployed.has(kind)) problems.push(`${source}: ${kind} ${object.metadata.name} is not taken`);
      continue;
    }
    const whole = withDefaults(kind, object);
    const name = `${kind} ${keyOf(whole)}`;
    if (keys.has(name)) problems.push(`${source}: ${name} is there twice: the last one counts`);
    keys.add(name);
    namespaces.add(whole.metadata.namespace ?? '');
    taken.push({ kind, object: whole });
  }
  for (const name of namespaces) if (name !== '') model.take('Namespace', name, namespaceOf(name));
  for (const { kind, object } of taken) model.take(kind, keyOf(object), object);
  model.settle();
  for (const { kind, object } of taken)
    if (!unreadable.has(`${kind} ${keyOf(object)}`)) problems.push(...problemsOf(model, kind, object));
  problems.push(...refusals(model));
  const entities = [...model.entities.keys()].sort().flatMap((key) => model.entities.get(key)?.entity ?? []);
  const byKind = Object.groupBy(entities, ({ kind }) => kind);
  return {
    entities: Object.fromEntries(
      editableKinds.flatMap((kind) =>
        byKind[kind] === undefined ? [] : [[kind, byKind[kind].map(({ body }) => body)]],
      ),
    ),
    problems,
  };
}

/** Returns what is missing for an object to be one of Kubernetes. */
function flawOf(object: unknown): string | undefined {
  if (!isObject(object)) return `${JSON.stringify(object)?.slice(0, 100)} is no object`;
  if (typeof object.kind !== 'string') return 'an object has no kind';
  if (!isObject(object.metadata) || typeof object.metadata.name !== 'string')
    return `${object.kind}: /metadata/name is required`;
  const needsSpec = Object.hasOwn(resourceKinds, object.kind) && !specless.has(object.kind);
  return needsSpec && !isObject(object.spec)
    ? `${object.kind} ${object.metadata.name}: /spec must be an object`
    : undefined;
}

const isReadable = (object: unknown): object is KubernetesObject & { readonly kind: string } =>
  flawOf(object) === undefined;

const specless: ReadonlySet<string> = new Set(['Namespace', 'Secret', 'ConfigMap', 'EndpointSlice', 'Service']);

/** Returns what Sluice would refuse, each with the objects that it is of. */
function refusals({ entities }: ClusterModel): string[] {
  return [...entities.keys()].sort().flatMap((key) => {
    const { kind, body } = entities.get(key)?.entity ?? {};
    const found = kind === undefined ? [] : parseEntity(kind, body).problems;
    if (found.length === 0) return [];
    const holders = entities
      .holdersOf(key)
      .map(partsOf)
      .map((holder) => `${holder.kind} ${holder.key}`);
    return [`${holders.join(', ')}: Sluice refuses ${key}: ${describe(found)}`];
  });
}

/** Kinds that manifests of applications hold and that routing does not depend on. */
const deployed: ReadonlySet<string> = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Pod',
  'Job',
  'ServiceAccount',
  'Role',
  'RoleBinding',
  'ClusterRole',
  'ClusterRoleBinding',
  'PodDisruptionBudget',
  'HorizontalPodAutoscaler',
  'NetworkPolicy',
  'CustomResourceDefinition',
]);

const namespaceOf = (name: string): KubernetesObject => ({
  metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
});

/** Returns an object with what the API server would fill in as far as the translation reads it. */
function withDefaults(kind: ResourceKindName, object: KubernetesObject): KubernetesObject {
  const isNamespaced = resourceKinds[kind].isNamespaced;
  const namespace = isNamespaced ? (object.metadata.namespace ?? 'default') : undefined;
  const metadata = { generation: 1, ...object.metadata, ...(namespace !== undefined && { namespace }) };
  const { stringData, data, ...rest } = object as KubernetesObject & { stringData?: object; data?: object };
  if (kind !== 'Secret') return { ...rest, ...(data !== undefined && { data }), metadata } as KubernetesObject;
  const texts = Object.entries(stringData ?? {}).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ]);
  return { ...rest, metadata, data: { ...data, ...Object.fromEntries(texts) } } as KubernetesObject;
}

/** Conditions that say that something is not served, each with the status that says so. */
const told: ReadonlyMap<string, Condition['status']> = new Map([
  ['Accepted', 'False'],
  ['ResolvedRefs', 'False'],
  ['PartiallyInvalid', 'True'],
]);

function problemsOf(model: ClusterModel, kind: ResourceKindName, object: KubernetesObject): string[] {
  const key = keyOf(object);
  const said = (about: string, conditions: readonly Condition[]): string[] =>
    conditions
      .filter(({ type, status }) => status === (told.get(type) ?? 'none'))
      .map(({ reason, message }) => `${about}: ${reason}: ${message}`);
  if (kind === 'Gateway') {
    const facts = model.factsOf(gatewayCell(key)) as GatewayFacts | undefined;
    if (facts === undefined) return [`Gateway ${key}: it is of no GatewayClass of this controller`];
    const listeners = [...facts.listeners, ...facts.sets.flatMap((set) => set.listeners)];
    return [
      ...said(`Gateway ${key}`, facts.conditions),
      ...facts.sets.flatMap(({ parent, accepted }) =>
        said(`ListenerSet ${keyFor(parent.namespace, parent.name)}`, [accepted]),
      ),
      ...listeners.flatMap(({ parent, name, conditions }) =>
        said(`${parent.kind} ${keyFor(parent.namespace, parent.name)}, listener ${name}`, conditions),
      ),
    ];
  }
  const policyKind = policyKinds.find((each) => each === kind);
  if (policyKind !== undefined) {
    const facts = model.factsOf(policyCell(policyKind, key)) as PolicyFacts | undefined;
    return said(`${kind} ${key}`, facts?.conditions ?? []);
  }
  if (kind === 'ListenerSet') {
    const { parentRef } = (object as ListenerSet).spec;
    const gateway = gatewayCell(keyFor(parentRef.namespace ?? object.metadata.namespace, parentRef.name));
    return model.factsOf(gateway) === undefined ? [`${kind} ${key}: its parent is no Gateway of this controller`] : [];
  }
  const routeKind = routeKinds.find((each) => each === kind);
  if (routeKind === undefined) return [];
  const facts = model.factsOf(routeCell(routeKind, key)) as RouteFacts | undefined;
  if (facts === undefined) return [`${kind} ${key}: no parent of it is a Gateway of this controller`];
  return [...new Set(facts.parents.flatMap(({ conditions }) => said(`${kind} ${key}`, conditions)))];
}
