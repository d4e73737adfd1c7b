// `blame`: the activation since which a request is answered as it is now.
import type { ActivationRecord } from '../../model/answers/activation-record.ts';
import { fieldChanges } from '../../model/entity-diff.ts';
import { command } from '../command-declaration.ts';
import { ApiRefusal } from '../connection/failed-answers.ts';
import { exitCodes, failed, wrongUsage } from '../exit.ts';
import { showValue } from '../output/form.ts';
import { printable } from '../output/text-table.ts';
import { explainedBy, explainFlags, questionOf, told } from './explain-command.ts';

/** Activations that are looked at. */
const limit = '10000';

export const blameCommand = command({
  words: 'blame',
  brief: 'Say since which activation a request is answered as it is now',
  text: `Explains the request with each activation, from the newest backwards, up to the first whose answer differs. Activations whose
snapshot is deleted are left out, and counted. An explanation shows no value of a secret, so that an activation which changed
nothing but such a value is not found: the difference of the activation (\`GET /activations/{index}/diff\`) names it.`,
  flags: {
    url: { kind: 'text', value: 'URL', brief: 'Path such as /cart?item=7, or an http URL; required' },
    ...explainFlags,
  },
  hasForms: true,
  examples: [
    { line: 'sluice blame --url http://shop.example/cart', does: 'names the activation that changed the answer' },
  ],
  async run(session, _, { url, ...flags }) {
    if (url === undefined) throw wrongUsage('blame needs --url URL');
    const api = await session.api();
    const question = await questionOf(url, flags);
    const activations = await api.get<ActivationRecord[]>('/activations', { limit });
    const [newest, ...earlier] = activations;
    if (newest === undefined) throw failed('nothing was ever active');
    const now = await explainedBy(api, question, newest.snapshotId);
    const known = new Map([[newest.snapshotId, now]]);
    let changedBy = newest;
    let leftOut = 0;
    for (const each of earlier) {
      const then = known.get(each.snapshotId) ?? (await explainedBy(api, question, each.snapshotId).catch(missing));
      if (then === undefined) {
        leftOut += 1;
        continue;
      }
      known.set(each.snapshotId, then);
      const changes = fieldChanges(told(then), told(now));
      if (changes.length > 0) {
        const found = { changedBy, before: each, changes, leftOut };
        await showValue(session.terminal, session.form, found, () => {
          const lines = changes.map(
            ({ pointer, from, to }) => `  ${pointer}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`,
          );
          return text([`answered so since ${lineOf(changedBy)}`, `before by ${lineOf(each)}`, ...lines], leftOut);
        });
        return exitCodes.done;
      }
      changedBy = each;
    }
    const found = { changedBy: null, before: null, changes: [], leftOut };
    await showValue(session.terminal, session.form, found, () =>
      text([`answered so since the oldest activation that is kept, ${lineOf(changedBy)}`], leftOut),
    );
    return exitCodes.done;
  },
});

/** A snapshot that is deleted. */
function missing(error: unknown): undefined {
  if (error instanceof ApiRefusal && error.status === 404) return undefined;
  throw error;
}

const text = (lines: readonly string[], leftOut: number): string =>
  [...lines, ...(leftOut > 0 ? [`left out, for their snapshots are deleted: ${leftOut}`] : [])]
    .map((line) => `${printable(line, true)}\n`)
    .join('');

const lineOf = ({ index, at, name, by, comment }: ActivationRecord): string =>
  `activation ${index} of ${at}: ${name}${by === null ? '' : `, by ${by}`}${comment === null ? '' : ` (${comment})`}`;
