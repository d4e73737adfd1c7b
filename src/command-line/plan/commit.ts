// Commit of a plan: one batch with all changes, and a snapshot of what they leave. Very many go in several batches, the
// snapshot with the last.
import { editableKinds } from '../../model/kinds.ts';
import type { Api, Reply } from '../connection/api.ts';
import type { Change } from './plan.ts';

/** Operations and bytes that the API takes in one batch (batch.md). */
const operationsMax = 20_000;
const bytesMax = 30 * 1024 * 1024;

interface BatchSnapshot {
  readonly name: string;
  readonly activate?: boolean;
  readonly base?: 'active';
  readonly comment?: string;
  readonly wait?: string;
}

export interface BatchAnswer {
  readonly index?: number;
  readonly results: readonly {
    readonly kind: string;
    readonly id: string;
    readonly changed?: boolean;
    readonly action?: 'create' | 'update' | 'delete' | 'none';
  }[];
  readonly snapshot?: { readonly id: string; readonly name: string };
  readonly warnings?: readonly { readonly pointer: string; readonly message: string }[];
  readonly problems?: readonly { readonly pointer: string; readonly message: string }[];
  readonly convergence?: unknown;
}

export interface CommitOptions {
  readonly snapshot?: BatchSnapshot | undefined;
  readonly ifMatch?: string | undefined;
  readonly dryRun?: boolean;
  /** The owner of a resource is not asked about. */
  readonly override?: boolean;
  /** Owner in whose name the batch is written. */
  readonly owner?: string | undefined;
  /** Called before each batch. */
  readonly onPart?: (done: number, of: number) => void;
}

/** Resolves with the answer to the last batch, and how many there were. Rejects with what the API refuses. */
export async function commit(
  api: Api,
  changes: readonly Change[],
  { snapshot, ifMatch, dryRun = false, override = false, owner, onPart }: CommitOptions,
): Promise<{ readonly reply: Reply<BatchAnswer>; readonly changed: number; readonly parts: number }> {
  const parts = inParts(changes);
  let changed = 0;
  let reply: Reply<BatchAnswer> | undefined;
  for (const [at, operations] of parts.entries()) {
    onPart?.(at, parts.length);
    const isLast = at === parts.length - 1;
    const beside = isLast && snapshot !== undefined ? `,"snapshot":${JSON.stringify(snapshot)}` : '';
    const by = owner === undefined ? '' : `,"owner":${JSON.stringify(owner)}`;
    // Each batch goes on from what the one before it left.
    const condition = at === 0 ? ifMatch : reply?.headers.etag;
    const headers: Record<string, string> =
      ifMatch !== undefined && condition !== undefined ? { 'if-match': condition } : {};
    reply = await api.ask<BatchAnswer>('POST', '/batch', {
      query: {
        fieldValidation: 'strict',
        ...(dryRun && { dryRun: 'true' }),
        ...(override && { override: 'true' }),
      },
      headers,
      body: `{"operations":[${operations.join(',')}]${by}${beside}}`,
    });
    changed += reply.body.results.filter((each) => each.changed ?? each.action !== 'none').length;
  }
  if (reply === undefined) throw new Error('a commit has at least one batch');
  return { reply, changed, parts: parts.length };
}

function inParts(changes: readonly Change[]): string[][] {
  const parts: string[][] = [];
  let part: string[] = [];
  let bytes = 0;
  // Targets of references come first, deletions last.
  const rank = ({ is, kind }: Change) => (is === 'deleted' ? editableKinds.length : editableKinds.indexOf(kind));
  for (const change of [...changes].sort((a, b) => rank(a) - rank(b))) {
    const text = JSON.stringify(operationOf(change));
    const length = Buffer.byteLength(text) + 1;
    if (part.length >= operationsMax || (bytes + length > bytesMax && part.length > 0)) {
      parts.push(part);
      [part, bytes] = [[], 0];
    }
    part.push(text);
    bytes += length;
  }
  if (part.length > 0 || parts.length === 0) parts.push(part);
  return parts;
}

function operationOf(change: Change): object {
  const { kind, id } = change;
  if (change.is === 'deleted') return { op: 'delete', kind, id, missingOk: true };
  return { op: 'upsert', kind, id, body: change.entity };
}
