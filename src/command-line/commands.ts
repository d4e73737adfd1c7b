// Commands of the client, one line for each, in the order in which help lists them.
import type { Command } from './command.ts';
import { applyCommand } from './commands/apply.ts';
import { backupCommand } from './commands/backup.ts';
import { blameCommand } from './commands/blame.ts';
import {
  clusterTransfer,
  membersAdd,
  membersList,
  membersPromote,
  membersRemove,
  membersReplace,
} from './commands/cluster.ts';
import { completionCommand } from './commands/completion.ts';
import { contextDelete, contextList, contextSet, contextUse, loginCommand } from './commands/context.ts';
import { deleteCommand } from './commands/delete.ts';
import { describeCommand } from './commands/describe.ts';
import { diffCommand } from './commands/diff.ts';
import { editCommand } from './commands/edit.ts';
import { explainCommand } from './commands/explain.ts';
import { exportCommand } from './commands/export.ts';
import { fleetDescribe, fleetLag, fleetList } from './commands/fleet.ts';
import { getCommand } from './commands/get.ts';
import { importCommand } from './commands/import.ts';
import { lintCommand } from './commands/lint.ts';
import { activateCommand, confirmCommand, historyCommand, rollbackCommand } from './commands/live.ts';
import { logLevelCommand } from './commands/log-level.ts';
import { requestsTail, requestsTop } from './commands/requests.ts';
import {
  rolloutAbort,
  rolloutList,
  rolloutPause,
  rolloutPromote,
  rolloutResume,
  rolloutStart,
  rolloutStatus,
  rolloutWatch,
} from './commands/rollout.ts';
import { secretDelete, secretList, secretRotate, secretSet } from './commands/secret.ts';
import { setCommand } from './commands/set.ts';
import { snapshotCreate, snapshotDelete, snapshotList, snapshotShow } from './commands/snapshot.ts';
import { clusterDoctor, clusterStatus, statusCommand } from './commands/status.ts';
import { testCommand } from './commands/test.ts';
import { validateCommand } from './commands/validate.ts';

export const commands: readonly Command[] = [
  applyCommand,
  diffCommand,
  exportCommand,
  getCommand,
  describeCommand,
  editCommand,
  setCommand,
  deleteCommand,
  snapshotCreate,
  snapshotList,
  snapshotShow,
  snapshotDelete,
  activateCommand,
  confirmCommand,
  rollbackCommand,
  historyCommand,
  rolloutStart,
  rolloutStatus,
  rolloutWatch,
  rolloutList,
  rolloutPause,
  rolloutResume,
  rolloutPromote,
  rolloutAbort,
  explainCommand,
  blameCommand,
  requestsTail,
  requestsTop,
  fleetList,
  fleetDescribe,
  fleetLag,
  statusCommand,
  clusterStatus,
  clusterDoctor,
  membersList,
  membersAdd,
  membersPromote,
  membersReplace,
  membersRemove,
  clusterTransfer,
  backupCommand,
  secretSet,
  secretList,
  secretRotate,
  secretDelete,
  logLevelCommand,
  validateCommand,
  lintCommand,
  testCommand,
  importCommand,
  contextList,
  contextUse,
  contextSet,
  contextDelete,
  loginCommand,
  completionCommand,
];
