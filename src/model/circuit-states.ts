// States of a circuit breaker, in the order of their numbers in shared memory.
export const circuitStates = ['closed', 'open', 'half-open'] as const;
export type CircuitState = (typeof circuitStates)[number];
