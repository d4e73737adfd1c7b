// Programs that see other mounts than the tests do: a directory where nothing may run, a disk that cannot be written, the
// root of an image. The program keeps the number of its process, so signals reach it.

/** Returns the command that runs `program` after `mounts`, lines of a shell. Needs root, for `mount` does. */
export const inMountNamespace = (mounts: readonly string[], program: readonly string[]): string[] => [
  ...['unshare', '--mount', 'sh', '-euc', `${mounts.join('\n')}\nexec "$@"`, 'sh'],
  ...program,
];

/** Programs of `needs` and of a machine where tests run as root. */
export const mountTools = ['unshare', 'mount', 'sh', ...(process.getuid?.() === 0 ? [] : ['the rights of root'])];
