// Feed of a node: the active configuration and the candidate by its state, now and after each command that changes
// them. A candidate that becomes active stays the same object, so that it is not compiled again.
import type { ProxyConfig } from '../model/proxy-config.ts';
import { candidateOf, proxyConfigOf } from '../snapshot/build.ts';
import type { StateView, StoredSnapshot } from '../state/view.ts';
import { Feed } from './feed.ts';

interface AgreedNews {
  onActivation(subscriber: (activation: { readonly index: number; readonly snapshot: StoredSnapshot }) => void): void;
  /** After an activation that came with it. */
  onRollout(subscriber: () => void): void;
  onRound(subscriber: () => void): void;
}

/** @param traceOf on whose behalf the activation with that index came, where that is traced. */
export function agreedFeed(
  view: StateView,
  log: AgreedNews,
  traceOf: (index: number) => string | undefined = () => undefined,
): Feed {
  const feed = new Feed();
  const activate = (snapshot: StoredSnapshot, index: number): void => {
    const known = feed.candidate.candidate?.config;
    const same: ProxyConfig | undefined = known?.id === snapshot.id ? { ...known, index } : undefined;
    const digest = view.activations.findLast((record) => record.index === index)?.sha256;
    const config = same ?? proxyConfigOf(snapshot, index, digest);
    const trace = traceOf(index);
    feed.publish(trace === undefined ? config : { ...config, trace });
  };
  const look = (): void => {
    const known = feed.candidate.candidate;
    const now = candidateOf(view);
    const candidate = now && known?.rollout === now.rollout ? { ...now, config: known.config } : now;
    const index = Math.max(0, ...view.rollouts.map(({ epoch }) => epoch));
    if (candidate !== undefined || known !== undefined || feed.candidate.index !== index)
      feed.offer({ candidate, index });
  };
  const lookAtFacts = (): void => {
    if (view.drains.index !== feed.drains.current.index) feed.drains.publish(view.drains);
    if (view.cookieKeys.index !== feed.cookieKeys.current.index) feed.cookieKeys.publish(view.cookieKeys);
  };
  lookAtFacts();
  const snapshot = view.active && view.snapshot(view.active.snapshotId);
  if (view.active && snapshot) activate(snapshot, view.active.index);
  look();
  log.onActivation((activation) => activate(activation.snapshot, activation.index));
  log.onRound(lookAtFacts);
  log.onRollout(look);
  return feed;
}
