// State that several pages show.
import { computed, signal } from '@preact/signals';
import { ApiError, apiKey, follow, needsKey, type Read, read } from './api.ts';
import { diskNeeds, type Need } from './disk-needs.ts';
import { dispatch, type EventName, live, readAgain, readAgainWhatIsOlder } from './live.ts';
import type {
  Activation,
  Cluster,
  EntityDifference,
  Fleet,
  NodeDisks,
  Rollout,
  SnapshotSummary,
  Stats,
  WhoAmI,
} from './types.ts';

export const whoami = live<WhoAmI>('/whoami', []);
export const activations = live<readonly Activation[]>('/activations?limit=200', ['active']);
export const snapshots = live<readonly SnapshotSummary[]>('/snapshots', ['snapshots', 'active']);
export const rollouts = live<readonly Rollout[]>('/rollouts', ['rollout', 'active']);
export const cluster = live<Cluster>('/cluster', ['members'], 5_000);
export const fleet = live<Fleet>('/fleet', ['fleet', 'active', 'rollout'], 15_000);
export const staged = live<EntityDifference>(readStaged, ['staged', 'active', 'snapshots']);
export const stats = live<Stats>('/stats', [], 2_000);

async function readStaged(): Promise<Read<EntityDifference>> {
  const { body, revision } = await read<EntityDifference & { readonly entities?: EntityDifference }>('/staged/diff');
  return { body: body.entities ?? body, revision };
}

export const stagedCount = computed(() => {
  const { created, changed, deleted } = staged.value.value ?? { created: [], changed: [], deleted: [] };
  return created.length + changed.length + deleted.length;
});

export const activeSnapshot = computed(() => snapshots.value.value?.find(({ active }) => active));

/** Rollout that is running or paused. */
export const openRollout = computed(() =>
  rollouts.value.value?.find(({ state }) => state === 'running' || state === 'paused'),
);

export const role = computed(() => whoami.value.value?.role);

const ranks: readonly string[] = ['proxy', 'viewer', 'editor', 'admin'];

/** Returns why the role of the key may not do something; undefined when it may. */
export function refusal(needed: 'editor' | 'admin'): string | undefined {
  const own = role.value;
  if (own === undefined || ranks.indexOf(own) >= ranks.indexOf(needed)) return undefined;
  return `The role ${own} may not do this; it takes ${needed === 'admin' ? 'an admin' : 'an editor'}.`;
}

/** `open` while the event stream is. */
export const connection = signal<'connecting' | 'open' | 'lost'>('connecting');

let lastEventId: string | undefined;

/** Follows changes until the page is left; tries again after every end. */
export async function followChanges(): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const abort = new AbortController();
    const key = apiKey.value;
    try {
      await follow('/events', abort.signal, onEvent, {
        lastEventId,
        onOpen: (revision) => {
          if (connection.value === 'lost') readAgain();
          else readAgainWhatIsOlder(revision);
          connection.value = 'open';
          attempt = 0;
        },
      });
      connection.value = 'lost';
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        if (key === apiKey.value) await keyChange(error.status === 401);
        attempt = 0;
        continue;
      }
      connection.value = 'lost';
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 250 * 2 ** Math.min(attempt, 5))));
  }
}

/** Resolves when another key was typed. */
function keyChange(isUnknown: boolean): Promise<void> {
  if (isUnknown) needsKey.value = true;
  const before = apiKey.value;
  return new Promise((resolve) => {
    const end = apiKey.subscribe((key) => {
      if (key === before) return;
      queueMicrotask(() => end());
      resolve();
    });
  });
}

interface EventData {
  readonly index?: number;
  readonly kind?: string;
  readonly ids?: readonly string[];
  readonly more?: number;
  readonly deleted?: boolean;
}

function onEvent({ event, id, data }: { event: string; id: string | undefined; data: string }): void {
  if (id !== undefined) lastEventId = id;
  const { index = 0, kind, ids = [], more, deleted } = JSON.parse(data) as EventData;
  dispatch({
    event: event as EventName,
    index,
    kind,
    ids,
    more: more !== undefined || ids.length === 0,
    isDeleted: deleted === true,
  });
}

/** Endpoints that serve no request, and circuits that are not closed, as the proxy of this node sees them. */
export interface EndpointTrouble {
  readonly destinationId: string;
  readonly name: string | null;
  readonly circuit: string | null;
  readonly endpoints: readonly { readonly endpoint: string; readonly state: string }[];
}

export const troubles = live<readonly EndpointTrouble[]>('/endpoints?state=unavailable', ['active', 'drains'], 5_000);

interface CertificateEnd {
  readonly listener: string;
  readonly certificate: string;
  readonly daysLeft: number;
}

export const certificates = live<readonly CertificateEnd[]>('/certificates', ['active'], 60_000);

export const disks = live<readonly NodeDisks[]>('/disks', ['members'], 10_000);

/** Sources of what needs attention, with what they tell of. */
export const needSources = [
  { name: 'nodes', source: cluster },
  { name: 'proxies and listeners', source: fleet },
  { name: 'endpoints', source: troubles },
  { name: 'disks', source: disks },
  { name: 'certificates', source: certificates },
] as const;

/** Days left at which a certificate needs attention. */
const daysMin = 14;

/** Troubles that an operator has to look after. */
export const needs = computed((): readonly Need[] => {
  const list: Need[] = [];
  const overview = cluster.value.value;
  if (overview?.leader === null)
    list.push({ text: 'The cluster has no leader: no change is possible', tone: 'bad', to: 'cluster' });
  for (const { nodeId, healthy, clockOffsetSeconds } of overview?.members ?? []) {
    if (healthy === false) list.push({ text: `Node ${nodeId} is not healthy`, tone: 'bad', to: 'cluster' });
    if (Math.abs(clockOffsetSeconds ?? 0) > 1)
      list.push({ text: `The clock of node ${nodeId} is ${clockOffsetSeconds} s off`, tone: 'warn', to: 'cluster' });
  }
  list.push(...diskNeeds(disks.value.value ?? []));
  for (const { destinationId, name, circuit, endpoints } of troubles.value.value ?? []) {
    const query = { id: destinationId };
    if (circuit !== null && circuit !== 'closed')
      list.push({
        text: `The circuit breaker of ${name ?? destinationId} is ${circuit}`,
        tone: 'bad',
        to: 'destinations',
        query,
      });
    for (const { endpoint, state } of endpoints)
      list.push({
        text: `${endpoint} of ${name ?? destinationId} is ${state}`,
        tone: state === 'drained' ? 'warn' : 'bad',
        to: 'destinations',
        query,
      });
  }
  for (const { listener, certificate, daysLeft } of certificates.value.value ?? []) {
    if (daysLeft >= daysMin) continue;
    const place = listener === '' ? certificate : `${certificate} of listener ${listener}`;
    const text =
      daysLeft < 0 ? `The certificate ${place} has ended` : `The certificate ${place} ends in ${daysLeft} days`;
    list.push({ text, tone: daysLeft < 0 ? 'bad' : 'warn', to: 'listeners' });
  }
  for (const { id, state, listeners } of fleet.value.value?.proxies ?? []) {
    if (state === 'refused') list.push({ text: `Proxy ${id} refuses the configuration`, tone: 'bad', to: 'fleet' });
    if (state === 'behind') list.push({ text: `Proxy ${id} lags behind`, tone: 'warn', to: 'fleet' });
    for (const { id: listener, state: open, reason } of listeners)
      if (open !== 'open')
        list.push({
          text: `Listener ${listener} of ${id} is ${open}${reason === undefined ? '' : `: ${reason}`}`,
          tone: 'bad',
          to: 'listeners',
        });
  }
  return list.slice(0, 50);
});
