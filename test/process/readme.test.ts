import { globSync } from 'node:fs';
import { expect } from 'chai';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { stepsOf, walkThrough } from '../support/walk-through.ts';

interface Page {
  /** Path from the top folder. */
  readonly file: string;
  /** Ports of the page, each of which becomes a free one. */
  readonly ports: readonly number[];
  readonly tools: readonly string[];
}

const root = new URL('../../', import.meta.url);

const tasks = globSync('docs/tasks/*.md', { cwd: root.pathname })
  .filter((file) => !file.endsWith('README.md'))
  .sort()
  .map(
    (file): Page => ({
      file,
      ports: [7001, 7002, 7003, 8081, 8101, 8102, 8103, 8443, 9000, 9001, 9911],
      tools: ['awk', 'cat', 'mktemp', 'openssl', 'sed', 'seq', 'sort', 'uniq', 'wc'],
    }),
  );

const pages: readonly Page[] = [
  { file: 'README.md', ports: [8081, 9000], tools: [] },
  { file: 'docs/upstreams.md', ports: [8081, 9000, 9001], tools: ['tr'] },
  { file: 'docs/operations.md', ports: [8081, 9000, 9001, 9002], tools: ['seq', 'sort'] },
  { file: 'docs/tls.md', ports: [8443, 9000], tools: ['openssl'] },
  ...tasks,
];

for (const { file, ports, tools } of pages)
  describe(`the walk-through of ${file}`, () => {
    const steps = stepsOf(new URL(file, root));
    let sluice: SluiceProcess | undefined;
    let transcript: string[];

    before(async function () {
      needs(this, 'bash', 'curl', 'grep', 'cut', 'sleep', 'xargs', ...tools);
      sluice = await startSluice();
      transcript = await walkThrough(steps, sluice.url, ports);
    });

    after(() => sluice?.stop());

    steps.forEach(({ commands, output }, at) => {
      if (output === undefined) return;
      it(`prints what it says for: ${commands.split('\n')[0]}`, () => expect(transcript[at]).to.equal(output));
    });
  });

describe('task pages', () => {
  it('show an output that a test compares', () => {
    expect(tasks.length).to.be.at.least(10);
    for (const { file } of tasks) {
      const shown = stepsOf(new URL(file, root)).filter(({ output }) => output !== undefined && output !== '');
      expect(shown, file).to.not.be.empty;
    }
  });
});
