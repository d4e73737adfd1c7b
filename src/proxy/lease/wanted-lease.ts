// Question of a worker for tokens of leased buckets.
export interface WantedLease {
  /** Id of the limit. */
  readonly limit: string;
  readonly row: number;
  /** Tokens that a request lacks; 0: few are left. */
  readonly tokens: number;
  /** Names the key to the cluster; undefined: main knows it. */
  readonly name: string | undefined;
}
