// Installation on the proxies, as statuses tell it.

export interface Installed {
  /** Every proxy has all of it. */
  isInstalled(holder: string): boolean;
  /** State of the rollout that is awaited; undefined: none is. */
  readonly rolloutProgress: string | undefined;
  /** Reason why Sluice refuses a part of it. */
  refusalOf(holder: string): string | undefined;
  /** Reason why a listener of Sluice is not open on every proxy. */
  closedReason(listenerId: string): string | undefined;
  /** Reason why a proxy refuses what is active. */
  readonly fleetRefusal: string | undefined;
}
