// Charts of this project, rendered by helm and applied to the cluster.
import { execFile, execFileSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const helm = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice/helm');
const charts = join(import.meta.dirname, '../../deploy/helm');
const run = promisify(execFile);

/** Installs a release. @param values as `--set` takes them */
export async function installChart(
  namespace: string,
  release: string,
  chart: string,
  ...values: string[]
): Promise<void> {
  const set = values.flatMap((value) => ['--set', value]);
  const { stdout } = await run(helm, ['template', release, join(charts, chart), '--namespace', namespace, ...set]);
  const kubectl = join(process.env.BIN ?? '', 'kubectl');
  const args = ['apply', '--server-side', '-n', namespace, '-f', '-'];
  execFileSync(kubectl, args, { input: stdout, stdio: ['pipe', 'ignore', 'inherit'] });
}
