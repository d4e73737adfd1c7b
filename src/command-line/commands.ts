// Commands of the client by their first words, in the order in which help lists them. A command loads its own group alone.
import type { Command } from './command-declaration.ts';
import { programCommands } from './program-commands.ts';

type Load = () => Promise<readonly Command[]>;

const groups: Readonly<Record<string, Load>> = {
  apply: async () => [(await import('./commands/apply-command.ts')).applyCommand],
  diff: async () => [(await import('./commands/diff-command.ts')).diffCommand],
  export: async () => [(await import('./commands/export-command.ts')).exportCommand],
  get: async () => [(await import('./commands/get-command.ts')).getCommand],
  describe: async () => [(await import('./commands/describe-command.ts')).describeCommand],
  edit: async () => [(await import('./commands/edit-command.ts')).editCommand],
  set: async () => [(await import('./commands/set-command.ts')).setCommand],
  delete: async () => [(await import('./commands/delete-command.ts')).deleteCommand],
  snapshot: async () => {
    const { snapshotCreate, snapshotDelete, snapshotList, snapshotShow } = await import(
      './commands/snapshot-command.ts'
    );
    return [snapshotCreate, snapshotList, snapshotShow, snapshotDelete];
  },
  activate: async () => [(await import('./commands/live-command.ts')).activateCommand],
  confirm: async () => [(await import('./commands/live-command.ts')).confirmCommand],
  rollback: async () => [(await import('./commands/live-command.ts')).rollbackCommand],
  history: async () => [(await import('./commands/live-command.ts')).historyCommand],
  rollout: async () => {
    const all = await import('./commands/rollout-command.ts');
    const { rolloutStart, rolloutStatus, rolloutWatch, rolloutList } = all;
    return [
      ...[rolloutStart, rolloutStatus, rolloutWatch, rolloutList],
      ...[all.rolloutPause, all.rolloutResume, all.rolloutPromote, all.rolloutAbort],
    ];
  },
  explain: async () => [(await import('./commands/explain-command.ts')).explainCommand],
  blame: async () => [(await import('./commands/blame-command.ts')).blameCommand],
  requests: async () => {
    const { requestsTail, requestsTop } = await import('./commands/requests-command.ts');
    const { requestsMismatches } = await import('./commands/mismatches-command.ts');
    return [requestsTail, requestsTop, requestsMismatches];
  },
  fleet: async () => {
    const { fleetDescribe, fleetLag, fleetList } = await import('./commands/fleet-command.ts');
    return [fleetList, fleetDescribe, fleetLag];
  },
  status: async () => [(await import('./commands/status-command.ts')).statusCommand],
  cluster: async () => {
    const { clusterDoctor, clusterStatus } = await import('./commands/status-command.ts');
    const all = await import('./commands/cluster-command.ts');
    const { membersAdd, membersList, membersPromote, membersRemove, membersReplace, clusterTransfer } = all;
    const members = [membersList, membersAdd, membersPromote, membersReplace, membersRemove];
    return [clusterStatus, clusterDoctor, ...members, clusterTransfer];
  },
  backup: async () => [(await import('./commands/backup-command.ts')).backupCommand],
  secret: async () => {
    const { secretDelete, secretList, secretRotate, secretSet } = await import('./commands/secret-command.ts');
    return [secretSet, secretList, secretRotate, secretDelete];
  },
  'log-level': async () => [(await import('./commands/log-level-command.ts')).logLevelCommand],
  validate: async () => [(await import('./commands/validate-command.ts')).validateCommand],
  lint: async () => [(await import('./commands/lint-command.ts')).lintCommand],
  test: async () => [(await import('./commands/test-command.ts')).testCommand],
  import: async () => [(await import('./commands/import-command.ts')).importCommand],
  context: async () => {
    const { contextDelete, contextList, contextSet, contextUse } = await import('./commands/context-command.ts');
    return [contextList, contextUse, contextSet, contextDelete];
  },
  login: async () => [(await import('./commands/context-command.ts')).loginCommand],
  dashboard: async () => [(await import('./commands/dashboard.ts')).dashboardCommand],
  completion: async () => [(await import('./commands/completion-command.ts')).completionCommand],
};

/** Resolves with the commands that begin with the word; with all of the client where none does. */
export async function commandsOf(word: string | undefined): Promise<readonly Command[]> {
  const load = word !== undefined && Object.hasOwn(groups, word) ? groups[word] : undefined;
  return load === undefined ? await clientCommands() : await load();
}

/** Resolves with every command of the client. */
export const clientCommands = async (): Promise<readonly Command[]> =>
  (await Promise.all(Object.values(groups).map((load) => load()))).flat();

/** Resolves with those of the program itself, too. */
export const everyCommand = async (): Promise<readonly Command[]> => [...programCommands, ...(await clientCommands())];
