// Levels of the log and the modules that have one each.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** `proxy`: the data plane with its workers. `raft`: the log in its thread, cluster and store. `main`: everything else. */
export const logModules = ['main', 'api', 'proxy', 'raft', 'fleet'] as const;
export type LogModule = (typeof logModules)[number];
