// Answers of the API, by the names of the OpenAPI document.
import type { components } from './openapi.ts';

type Schemas = components['schemas'];

export type Activation = Schemas['Activation'];
export type Cluster = Schemas['Cluster'];
export type Difference = Schemas['ConfigurationDifference'];
export type Explanation = Schemas['Explanation'];
export type ExplainCandidate = Schemas['ExplainCandidate'];
export type Finding = Schemas['Finding'];
export type Fleet = Schemas['Fleet'];
export type FleetProxy = Schemas['FleetProxy'];
export type ApiKey = Schemas['ApiKey'];
export type CookieKey = Schemas['CookieKey'];
export type MadeApiKey = Schemas['MadeApiKey'];
export type LogLevels = Schemas['LogLevels'];
export type Member = Schemas['Member'];
export type MirrorMismatch = Schemas['MirrorMismatch'];
export type NodeDisks = Schemas['NodeDisks'];
export type RecentRequest = Schemas['RecentRequest'];
export type Replay = Schemas['Replay'];
export type Rollout = Schemas['Rollout'];
export type SnapshotSummary = Schemas['SnapshotSummary'];
export type Stats = Schemas['Stats'];
export type TrafficSubject = Schemas['TrafficSubject'];

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };

/** Resource of any kind that is edited. */
export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly owner?: string;
  readonly [field: string]: unknown;
}

export type EditedKind =
  | 'routes'
  | 'destinations'
  | 'middlewares'
  | 'listeners'
  | 'groups'
  | 'streamRoutes'
  | 'consumers'
  | 'secrets';
/** Kinds that are shown as staged or active. */
export type ShownKind = Exclude<EditedKind, 'secrets'>;

export const nounOf = (kind: string): string => (kind === 'streamRoutes' ? 'stream route' : kind.replace(/s$/, ''));

/** One entity of a difference. */
export interface EntityChange {
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
  readonly owner?: string | null;
  readonly changes?: readonly { readonly pointer: string; readonly from?: unknown; readonly to?: unknown }[];
}

export interface EntityDifference {
  readonly created: readonly EntityChange[];
  readonly changed: readonly EntityChange[];
  readonly deleted: readonly EntityChange[];
}

export interface WhoAmI {
  readonly name: string;
  readonly role: string;
  readonly may: readonly string[];
}
