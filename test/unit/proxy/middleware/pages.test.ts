// The pages of docs/middlewares: their configurations are accepted, their examples happen, their tables are complete.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseEntity } from '../../../../src/model/validation.ts';
import { storedConsumers } from '../../../support/consumers.ts';
import { eventually } from '../../../support/eventually.ts';
import { LedgerLeases } from '../../../support/ledger-leases.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Answer, MiddlewareBed, type NamedMiddleware } from '../../../support/middleware-bed.ts';
import { TemporaryDirectories } from '../../../support/temporary-directory.ts';

const folder = new URL('../../../../docs/middlewares/', import.meta.url);

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocksOf = (page: string): Block[] =>
  [...readFileSync(new URL(page, folder), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
    language: language ?? '',
    text: text ?? '',
  }));

/** One request, what the upstream gets of it, and what the client gets. */
interface Turn {
  readonly sent: string[];
  readonly forwarded: string[];
  readonly answered: string[];
}

function turnsOf(text: string): Turn[] {
  const turns: Turn[] = [];
  let former = '<';
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [mark = '', rest = ''] = [line[0], line.slice(2)];
    if (mark === '>' && former !== '>') turns.push({ sent: [], forwarded: [], answered: [] });
    const turn = turns.at(-1);
    (mark === '>' ? turn?.sent : mark === '=' ? turn?.forwarded : turn?.answered)?.push(rest);
    former = mark;
  }
  return turns;
}

const split = (line: string): [name: string, value: string] => {
  const colon = line.indexOf(': ');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
};

function checkFields(lines: readonly string[], values: (name: string) => readonly string[]): void {
  const wanted = new Map<string, string[]>();
  for (const line of lines) {
    if (line.startsWith('no ')) expect(values(line.slice(3).toLowerCase()), line).to.deep.equal([]);
    else wanted.set(split(line)[0], [...(wanted.get(split(line)[0]) ?? []), split(line)[1]]);
  }
  for (const [name, list] of wanted) expect(values(name), name).to.deep.equal(list);
}

function checkAnswer({ status, headers, body }: Answer, [first, ...lines]: readonly string[]): void {
  expect(String(status)).to.equal(first);
  const last = lines.at(-1) ?? '';
  if (last.startsWith('{')) expect(body).to.equal(last);
  checkFields(
    lines.filter((line) => !line.startsWith('{')),
    (name) => [headers[name] ?? []].flat(),
  );
}

describe('docs/middlewares', () => {
  const pages = readdirSync(folder).filter((page) => page.endsWith('.md') && page !== 'README.md');
  const directories = new TemporaryDirectories();
  let bed: MiddlewareBed | undefined;
  /** Time stands still where an example tells how long to wait. */
  const begin = (page: string): MiddlewareBed => {
    if (page === 'rate-limit-of-the-cluster.md') bed = new MiddlewareBed({ leases: new LedgerLeases().report });
    else if (page.startsWith('rate-limit')) bed = new MiddlewareBed({ clock: new ManualClock() });
    else bed = new MiddlewareBed();
    bed.answer = { status: 200, headers: { 'content-type': 'text/plain', 'x-powered-by': 'test' }, body: 'upstream' };
    return bed;
  };
  afterEach(async () => {
    await bed?.end();
    await directories.removeAll();
  });

  const happens = async (bed: MiddlewareBed, { sent: [line = '', ...fields], forwarded, answered }: Turn) => {
    const [method = '', path = ''] = line.split(' ');
    checkAnswer(await bed.ask({ method, path, headers: Object.fromEntries(fields.map(split)) }), answered);
    const got = bed.reached.at(-1);
    const [target] = forwarded.filter((each) => each.startsWith(`${method} `));
    if (target !== undefined) expect(`${got?.method} ${got?.url}`).to.equal(target);
    checkFields(
      forwarded.filter((each) => each !== target),
      (name) => got?.headersDistinct[name] ?? [],
    );
  };

  for (const page of pages) {
    it(`${page}: the configuration is accepted and the examples happen`, async () => {
      const bed = begin(page);
      const blocks = blocksOf(page);
      const log = join(await directories.make(), 'access.log');
      const text = blocks.find(({ language }) => language === 'json')?.text.replace('/var/log/sluice/access.log', log);
      const middleware: NamedMiddleware = JSON.parse(text ?? '');
      expect(parseEntity('middlewares', { ...middleware, id: 'm' }).problems ?? []).to.deep.equal([]);
      const [, consumer] = blocks.filter(({ language }) => language === 'json');
      const consumers = consumer === undefined ? [] : storedConsumers(JSON.parse(consumer.text));
      await bed.serve([middleware], { more: { consumers } });
      for (const block of blocks.filter(({ language }) => language === 'http')) {
        for (const turn of turnsOf(block.text)) await happens(bed, turn);
      }
      const lines = blocks.find(({ language }) => language === 'log')?.text;
      if (lines !== undefined) await eventually(() => expect(readFileSync(log, 'utf8')).to.equal(lines));
    });
  }

  it('README.md names every page', () => {
    const text = readFileSync(new URL('README.md', folder), 'utf8');
    for (const page of pages) expect(text).to.include(`(${page})`);
  });
});
