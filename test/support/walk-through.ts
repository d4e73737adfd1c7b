// Runs the commands of a page of documentation and compares what they print with what the page says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { newFolder, program } from './sluice-process.ts';

interface Step {
  readonly commands: string;
  readonly output: string | undefined;
}

/** Returns the `bash` blocks of the page, each with the `text` block that shows its output, if there is one. */
export function stepsOf(page: URL): Step[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```(bash|text)\n([\s\S]*?)```/g)].map(
    ([, language, text]) => ({ language, text: text ?? '' }),
  );
  return blocks.flatMap(({ language, text }, at) => {
    const next = blocks[at + 1];
    return language === 'bash' ? [{ commands: text, output: next?.language === 'text' ? next.text : undefined }] : [];
  });
}

const end = '---8<---';

/**
 * Runs all steps in one shell, the API at `apiUrl` and other ports free ones. Resolves with what each printed, in the
 * page's own ports.
 */
export async function walkThrough(
  steps: readonly Step[],
  apiUrl: string,
  otherPorts: readonly number[],
): Promise<string[]> {
  const ports: Record<number, string> = { 8080: new URL(apiUrl).port };
  for (const port of otherPorts) ports[port] = String(await freePort());
  // All in one pass: a free port may have one of the page's in it.
  const pagePort = new RegExp(Object.keys(ports).join('|'), 'g');
  const onFreePorts = (text: string) => text.replace(pagePort, (port) => ports[Number(port)] ?? port);
  const upstreamIsUp = `until (exec 3<>/dev/tcp/127.0.0.1/${ports[9000]}) 2>/dev/null; do sleep 0.05; done\n`;
  const script = steps.map(
    ({ commands }) => `${onFreePorts(commands)}\n${commands.includes('listen(9000)') ? upstreamIsUp : ''}echo '${end}'`,
  );
  const shell = spawn('bash', ['-c', `${script.join('\n')}\njobs -p | xargs -r kill`], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: newFolder(),
    env: { ...process.env, PATH: `${folderWithSluice()}:${process.env.PATH}` },
  });
  let output = '';
  shell.stdout.on('data', (chunk) => (output += chunk));
  await once(shell, 'close');
  const pagePorts = Object.entries(ports).reduce((all, [from, to]) => all.replaceAll(`:${to}`, `:${from}`), output);
  return pagePorts.split(`${end}\n`);
}

/** Makes a folder that holds the command `sluice`: the build under test. */
function folderWithSluice(): string {
  const folder = join(newFolder(), 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'sluice'), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, { mode: 0o755 });
  return folder;
}
