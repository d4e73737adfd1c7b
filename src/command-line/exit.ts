// Exit codes of the client, and the failure that carries one to the end of the process (docs/cli.md).

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  different: 3,
  refused: 4,
  unreachable: 5,
  gaveUp: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Meanings of the codes, for help and docs/cli.md. */
export const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: 'done, or no difference',
  1: 'failed; faults of the input and unknown names, too',
  2: 'wrong usage',
  3: 'a difference was found; `import`: something is not taken',
  4: 'refused by the server',
  5: 'no server can be reached, or the cluster has no leader',
  6: '`--wait` gave up, or a rollout went back',
  130: 'interrupted',
};

/** Ends a command. The message is one line; `lines` follow it as they are. */
export class CommandFailure extends Error {
  readonly code: ExitCode;
  readonly lines: readonly string[];

  constructor(code: ExitCode, message: string, lines: readonly string[] = []) {
    super(message);
    this.name = 'CommandFailure';
    this.code = code;
    this.lines = lines;
  }
}

/** Failure of the client itself: a file, an unknown name. */
export const failed = (message: string, lines?: readonly string[]): CommandFailure =>
  new CommandFailure(exitCodes.failed, message, lines);

export const wrongUsage = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, message);
