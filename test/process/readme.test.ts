import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/needs.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

interface Step {
  readonly commands: string;
  readonly output: string | undefined;
}

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Each `bash` block of the walk-through with the `text` block that shows its output, if there is one. */
function walkThrough(): Step[] {
  const blocks = [...readme.matchAll(/```(bash|text)\n([\s\S]*?)```/g)].map(([, language, text]) => ({
    language,
    text: text ?? '',
  }));
  return blocks.flatMap(({ language, text }, at) => {
    const next = blocks[at + 1];
    return language === 'bash' ? [{ commands: text, output: next?.language === 'text' ? next.text : undefined }] : [];
  });
}

describe("the README's walk-through", () => {
  let sluice: SluiceProcess | undefined;
  let transcript: string[];
  const end = '---8<---';

  before(async function () {
    needs(this, 'bash', 'curl', 'grep', 'cut', 'sleep');
    sluice = await startSluice();
    const ports = { 8080: new URL(sluice.url).port, 8081: String(await freePort()), 9000: String(await freePort()) };
    const onFreePorts = (text: string) =>
      Object.entries(ports).reduce((all, [from, to]) => all.replaceAll(from, to), text);
    const upstreamIsUp = `until curl -s -o /dev/null http://127.0.0.1:${ports[9000]}/; do sleep 0.05; done\n`;
    const script = walkThrough().map(
      ({ commands }) =>
        `${onFreePorts(commands)}\n${commands.includes('listen(9000)') ? upstreamIsUp : ''}echo '${end}'`,
    );
    const shell = spawn('bash', ['-c', `${script.join('\n')}\nkill %1`], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    shell.stdout.on('data', (chunk) => (output += chunk));
    await once(shell, 'close');
    const readmePorts = Object.entries(ports).reduce((all, [from, to]) => all.replaceAll(`:${to}`, `:${from}`), output);
    transcript = readmePorts.split(`${end}\n`);
  });

  after(() => sluice?.stop());

  walkThrough().forEach(({ commands, output }, at) => {
    if (output === undefined) return;
    it(`prints what it says for: ${commands.split('\n')[0]}`, () => expect(transcript[at]).to.equal(output));
  });
});
