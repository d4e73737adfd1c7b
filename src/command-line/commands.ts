// Commands of the client by their first words, in the order in which help lists them. A command loads its own group alone.
import type { Command } from './command.ts';
import { programCommands } from './program-commands.ts';

type Load = () => Promise<readonly Command[]>;

const groups: Readonly<Record<string, Load>> = {
  apply: async () => [(await import('./commands/apply.ts')).applyCommand],
  diff: async () => [(await import('./commands/diff.ts')).diffCommand],
  export: async () => [(await import('./commands/export.ts')).exportCommand],
  get: async () => [(await import('./commands/get.ts')).getCommand],
  describe: async () => [(await import('./commands/describe.ts')).describeCommand],
  edit: async () => [(await import('./commands/edit.ts')).editCommand],
  set: async () => [(await import('./commands/set.ts')).setCommand],
  delete: async () => [(await import('./commands/delete.ts')).deleteCommand],
  snapshot: async () => {
    const { snapshotCreate, snapshotDelete, snapshotList, snapshotShow } = await import('./commands/snapshot.ts');
    return [snapshotCreate, snapshotList, snapshotShow, snapshotDelete];
  },
  activate: async () => [(await import('./commands/live.ts')).activateCommand],
  confirm: async () => [(await import('./commands/live.ts')).confirmCommand],
  rollback: async () => [(await import('./commands/live.ts')).rollbackCommand],
  history: async () => [(await import('./commands/live.ts')).historyCommand],
  rollout: async () => {
    const all = await import('./commands/rollout.ts');
    const { rolloutStart, rolloutStatus, rolloutWatch, rolloutList } = all;
    return [
      ...[rolloutStart, rolloutStatus, rolloutWatch, rolloutList],
      ...[all.rolloutPause, all.rolloutResume, all.rolloutPromote, all.rolloutAbort],
    ];
  },
  explain: async () => [(await import('./commands/explain.ts')).explainCommand],
  blame: async () => [(await import('./commands/blame.ts')).blameCommand],
  requests: async () => {
    const { requestsTail, requestsTop } = await import('./commands/requests.ts');
    return [requestsTail, requestsTop];
  },
  fleet: async () => {
    const { fleetDescribe, fleetLag, fleetList } = await import('./commands/fleet.ts');
    return [fleetList, fleetDescribe, fleetLag];
  },
  status: async () => [(await import('./commands/status.ts')).statusCommand],
  cluster: async () => {
    const { clusterDoctor, clusterStatus } = await import('./commands/status.ts');
    const all = await import('./commands/cluster.ts');
    const { membersAdd, membersList, membersPromote, membersRemove, membersReplace, clusterTransfer } = all;
    const members = [membersList, membersAdd, membersPromote, membersReplace, membersRemove];
    return [clusterStatus, clusterDoctor, ...members, clusterTransfer];
  },
  backup: async () => [(await import('./commands/backup.ts')).backupCommand],
  secret: async () => {
    const { secretDelete, secretList, secretRotate, secretSet } = await import('./commands/secret.ts');
    return [secretSet, secretList, secretRotate, secretDelete];
  },
  'log-level': async () => [(await import('./commands/log-level.ts')).logLevelCommand],
  validate: async () => [(await import('./commands/validate.ts')).validateCommand],
  lint: async () => [(await import('./commands/lint.ts')).lintCommand],
  test: async () => [(await import('./commands/test.ts')).testCommand],
  import: async () => [(await import('./commands/import.ts')).importCommand],
  context: async () => {
    const { contextDelete, contextList, contextSet, contextUse } = await import('./commands/context.ts');
    return [contextList, contextUse, contextSet, contextDelete];
  },
  login: async () => [(await import('./commands/context.ts')).loginCommand],
  dashboard: async () => [(await import('./commands/dashboard.ts')).dashboardCommand],
  completion: async () => [(await import('./commands/completion.ts')).completionCommand],
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
