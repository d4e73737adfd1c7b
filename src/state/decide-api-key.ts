// Decisions about API keys of the cluster (contract.md §3.11): one more, one less.
import { managedKeysMax } from '../model/managed-keys.ts';
import type { AddApiKey, RevokeApiKey } from './command.ts';
import type { Overlay } from './overlay.ts';
import type { Decision } from './refusals.ts';

export function addApiKey(state: Overlay, { id, name, role, digest, by }: AddApiKey, index: number): Decision {
  const { keys } = state.live.managedKeys;
  if (keys.length >= managedKeysMax) return { status: 409, error: `there are ${managedKeysMax} API keys already` };
  if (keys.some((key) => key.id === id)) return { status: 409, error: `API key "${id}" exists already` };
  const createdAt = state.position.logTime;
  state.setManagedKeys({ index, keys: [...keys, { id, name, role, digest, createdAt, createdBy: by }] });
  return { status: 200 };
}

export function revokeApiKey(state: Overlay, { id }: RevokeApiKey, index: number): Decision {
  const { keys } = state.live.managedKeys;
  const left = keys.filter((key) => key.id !== id);
  if (left.length === keys.length) return { status: 404, error: `API key ${JSON.stringify(id)} not found` };
  state.setManagedKeys({ index, keys: left });
  return { status: 200 };
}
