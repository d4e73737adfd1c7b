// Commit of a plan: one batch with all changes, and a snapshot of what they leave. All of it takes effect, or nothing.
import type { BatchAnswer, LargeBatchAnswer } from '../../model/answers/batch-answers.ts';
import { type BatchLimits, batchLimits, largeBatchLimits, largeBatchMsPerOperation } from '../../model/batch-limits.ts';
import { editableKinds } from '../../model/kinds.ts';
import type { Api, Reply } from '../connection/api-client.ts';
import { failed } from '../exit.ts';
import { countOf } from '../input/fault.ts';
import type { Change } from './plan.ts';

const mebibyte = 1024 * 1024;
/** Path with its limits; a mebibyte is left for what stands beside the operations. */
const within = (path: string, { operations, bytes }: BatchLimits) => ({ path, operations, bytes: bytes - mebibyte });
const usual = within('/batch', batchLimits);
const large = within('/batch/large', largeBatchLimits);

interface BatchSnapshot {
  readonly name: string;
  readonly activate?: boolean;
  readonly base?: 'active';
  readonly failOn?: string;
  readonly comment?: string;
  readonly wait?: string;
}

/** Answer of either path. */
type CommitAnswer = Partial<BatchAnswer & LargeBatchAnswer>;

export interface CommitOptions {
  readonly snapshot?: BatchSnapshot | undefined;
  readonly ifMatch?: string | undefined;
  readonly dryRun?: boolean;
  /** The owner of a resource is not asked about. */
  readonly override?: boolean;
  /** Owner in whose name the batch is written. */
  readonly owner?: string | undefined;
  /** Called before a large batch is sent, with its bytes. */
  readonly onLarge?: (bytes: number) => void;
}

/** Resolves with the answer, and how many changes took effect. Rejects with what the API refuses. */
export async function commit(
  api: Api,
  changes: readonly Change[],
  { snapshot, ifMatch, dryRun = false, override = false, owner, onLarge }: CommitOptions,
): Promise<{ readonly reply: Reply<CommitAnswer>; readonly changed: number }> {
  const body = bodyOf(changes, {
    ...(owner !== undefined && { owner }),
    ...(snapshot !== undefined && { snapshot }),
  });
  const { path } = limitsFor(changes.length, body.length);
  if (path === large.path) onLarge?.(body.length);
  const reply = await api.ask<CommitAnswer>('POST', path, {
    query: {
      fieldValidation: 'strict',
      ...(dryRun && { dryRun: 'true' }),
      ...(override && { override: 'true' }),
    },
    ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
    body,
    extraMs: path === large.path ? changes.length * largeBatchMsPerOperation : 0,
  });
  return { reply, changed: changedIn(reply.body) };
}

/** Throws where the changes are more than one commit takes. */
function limitsFor(count: number, bytes: number): typeof usual {
  const found = [usual, large].find((each) => count <= each.operations && bytes <= each.bytes);
  if (found !== undefined) return found;
  const most = `${large.operations} changes and ${large.bytes / mebibyte} MiB`;
  throw failed(
    `${countOf(count, 'change')} of ${Math.ceil(bytes / mebibyte)} MiB are more than one commit takes, which is ${most}; nothing was staged`,
  );
}

const changedIn = ({ changed, results = [] }: CommitAnswer): number =>
  changed ?? results.filter((each) => each.changed ?? each.action !== 'none').length;

/** JSON of the batch, put together of pieces of about a mebibyte. */
function bodyOf(changes: readonly Change[], fields: object): Buffer {
  // Targets of references come first, deletions last.
  const rank = ({ is, kind }: Change) => (is === 'deleted' ? editableKinds.length : editableKinds.indexOf(kind));
  const pieces = [Buffer.from(JSON.stringify({ ...fields, operations: [] }).slice(0, -2))];
  let texts: string[] = [];
  let length = 0;
  const close = (isLast: boolean): void => {
    pieces.push(Buffer.from(texts.join(',') + (isLast ? '' : ',')));
    [texts, length] = [[], 0];
  };
  for (const change of [...changes].sort((a, b) => rank(a) - rank(b))) {
    if (length > mebibyte) close(false);
    const text = JSON.stringify(operationOf(change));
    texts.push(text);
    length += text.length;
  }
  close(true);
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}

function operationOf(change: Change): object {
  const { kind, id } = change;
  if (change.is === 'deleted') return { op: 'delete', kind, id, missingOk: true };
  return { op: 'upsert', kind, id, body: change.entity };
}
