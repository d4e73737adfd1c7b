// Commands of the program itself, which src/command-line.ts runs: declared here for help, completions and docs/cli.md.
import { type Command, command } from './command-declaration.ts';

const config = { config: { kind: 'text', value: 'FILE', brief: 'Settings of the node (YAML)' } } as const;

const byProgram = async (): Promise<never> => {
  throw new Error('the program runs this command itself');
};

export const programCommands: readonly Command[] = [
  command({
    words: 'serve',
    brief: 'Start the server; the same as sluice without a word',
    flags: config,
    isLocal: true,
    examples: [{ line: 'sluice --config /etc/sluice/config.yaml', does: 'starts a node with these settings' }],
    run: byProgram,
  }),
  command({
    words: 'restore',
    brief: 'Fill the empty store of the settings from a backup',
    arguments: [{ name: 'BACKUP', brief: 'File that sluice backup wrote' }],
    flags: config,
    isLocal: true,
    run: byProgram,
  }),
  command({
    words: 'force-new-cluster',
    brief: 'Make what this node has the beginning of a new cluster',
    text: 'For the day on which the quorum of the old cluster is lost for good. The node must be stopped.',
    flags: config,
    isLocal: true,
    run: byProgram,
  }),
  command({
    words: 'version',
    brief: 'Print the version',
    flags: { json: { kind: 'switch', brief: 'With commit, time, Node and all dependencies' } },
    isLocal: true,
    run: byProgram,
  }),
];
