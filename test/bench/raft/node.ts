// One raft process of the bench: the worker thread, and a state machine that only counts. Talks to bench.ts over the
// IPC channel of its parent. Proposals come from this very process, as they do in the product's main thread.
import { type Committed, type RaftOptions, RaftThread, type RoleReport, type ThreadHost } from '../../../raft/index.ts';

export type ToNode =
  | { readonly type: 'load'; readonly clients: number; readonly seconds: number; readonly bytes: number }
  | { readonly type: 'reads'; readonly clients: number; readonly seconds: number }
  /** Propose words without end, and tell each that is acknowledged. */
  | { readonly type: 'stream'; readonly clients: number; readonly prefix: string }
  | { readonly type: 'words' }
  | { readonly type: 'transfer' }
  | { readonly type: 'stop' };

export type FromNode =
  | { readonly type: 'role'; readonly leads: boolean; readonly term: number }
  /** A leader has committed its first proposal; Unix milliseconds. */
  | { readonly type: 'working'; readonly term: number; readonly at: number }
  | { readonly type: 'done'; readonly latenciesMs: readonly number[]; readonly seconds: number; readonly lost: number }
  | { readonly type: 'acked'; readonly word: string }
  /** Words applied since the start of this process, which are all: the state begins empty. */
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'fatal'; readonly reason: string };

const options: RaftOptions = JSON.parse(process.argv[2] ?? '');
const tell = (message: FromNode) => process.send?.(message);
const words: string[] = [];
let probedTerm = 0;

const host: ThreadHost = {
  opened: () => thread.begin({ index: 0, term: 0 }),
  cannotListen: (code) => tell({ type: 'fatal', reason: code }),
  committed: (batch) => apply(batch),
  role: (report) => role(report),
  makeCheckpoint: () => thread.node.checkpointFailed(),
  install: () => {},
  adopt: () => {},
  discard: () => {},
  notice: () => {},
  warning: () => {},
  disk: () => undefined,
  fatal: (reason) => tell({ type: 'fatal', reason }),
};
const thread = new RaftThread(options, host);

function apply({ entries, last }: Committed): void {
  for (const { payload } of entries) if (payload.length < 100) words.push(Buffer.from(payload).toString());
  thread.node.applied(last);
}

function role(report: RoleReport): void {
  const leads = report.role === 'leader';
  tell({ type: 'role', leads, term: report.term });
  if (!leads || report.term === probedTerm) return;
  probedTerm = report.term;
  void probe(report.term);
}

async function probe(ofTerm: number): Promise<void> {
  if (await isCommitted(Buffer.from('probe'))) tell({ type: 'working', term: ofTerm, at: Date.now() });
}

const isCommitted = async (payload: Uint8Array): Promise<boolean> =>
  (await thread.propose(payload)).kind === 'committed';

/** `clients` loops, each with one question out at a time. */
async function load(clients: number, seconds: number, question: () => Promise<boolean>): Promise<void> {
  const latenciesMs: number[] = [];
  let lost = 0;
  const startedAt = performance.now();
  const loop = async () => {
    while (performance.now() - startedAt < seconds * 1000) {
      const askedAt = performance.now();
      if (await question()) latenciesMs.push(performance.now() - askedAt);
      else lost += 1;
      if (lost > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  tell({ type: 'done', latenciesMs, seconds: (performance.now() - startedAt) / 1000, lost });
}

async function stream(client: number, prefix: string): Promise<void> {
  for (let n = 0; ; n++) {
    const word = `${prefix}.${client}.${n}`;
    if (await isCommitted(Buffer.from(word))) tell({ type: 'acked', word });
    else await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

process.on('message', (message: ToNode) => {
  if (message.type === 'load') {
    const payload = new Uint8Array(message.bytes).fill(7);
    void load(message.clients, message.seconds, () => isCommitted(payload));
  }
  if (message.type === 'reads')
    void load(message.clients, message.seconds, async () => (await thread.read()) !== undefined);
  if (message.type === 'stream') {
    for (let client = 0; client < message.clients; client++) void stream(client, message.prefix);
  }
  if (message.type === 'words') tell({ type: 'words', words });
  if (message.type === 'transfer') thread.node.transfer(undefined);
  if (message.type === 'stop') void thread.stop().then(() => process.exit(0));
});
