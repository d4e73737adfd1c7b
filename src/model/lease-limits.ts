// Bounds of messages about leases, and the states of a grant.

export const leaseLimits = { limits: 256, keys: 1_000, id: 64, key: 64 } as const;

/** States of a grant: more may come soon; none is left for now; the leader is new and moves nothing yet. */
export const grantStates = ['granted', 'again', 'dry', 'settling'] as const;
