import { expect } from 'chai';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';
import { stepsOf, walkThrough } from '../support/walk-through.ts';

for (const { what, page, ports, tools } of [
  { what: "the README's walk-through", page: '../../README.md', ports: [8081, 9000], tools: [] },
  {
    what: 'the walk-through of docs/upstreams.md',
    page: '../../docs/upstreams.md',
    ports: [8081, 9000, 9001],
    tools: ['tr'],
  },
  {
    what: 'the walk-through of docs/operations.md',
    page: '../../docs/operations.md',
    ports: [8081, 9000, 9001, 9002],
    tools: ['seq', 'sort'],
  },
  { what: 'the walk-through of docs/tls.md', page: '../../docs/tls.md', ports: [8443, 9000], tools: ['openssl'] },
])
  describe(what, () => {
    const steps = stepsOf(new URL(page, import.meta.url));
    let sluice: SluiceProcess | undefined;
    let transcript: string[];

    before(async function () {
      needs(this, 'bash', 'curl', 'grep', 'cut', 'sleep', ...tools);
      sluice = await startSluice();
      transcript = await walkThrough(steps, sluice.url, ports);
    });

    after(() => sluice?.stop());

    steps.forEach(({ commands, output }, at) => {
      if (output === undefined) return;
      it(`prints what it says for: ${commands.split('\n')[0]}`, () => expect(transcript[at]).to.equal(output));
    });
  });
