// `dashboard`: address of the dashboard on a node that answers, and the browser that shows it.
import { command } from '../command-declaration.ts';
import { exitCodes, failed } from '../exit.ts';

export const dashboardCommand = command({
  words: 'dashboard',
  brief: 'Print the address of the dashboard',
  text: `The address is that of the first server that answers. With \`--open\` the browser shows it: BROWSER, else xdg-open, on macOS
open. The API key is not part of the address: the page asks for it.`,
  flags: { open: { kind: 'switch', brief: 'Show it in the browser' } },
  examples: [{ line: 'sluice dashboard --open', does: 'opens the dashboard' }],
  async run(session, _, { open }) {
    const api = await session.api();
    await api.get('/whoami');
    const { href } = new URL('ui/', api.answering);
    session.terminal.print(href);
    if (!open) return exitCodes.done;
    const browser = process.env.BROWSER || (process.platform === 'darwin' ? 'open' : 'xdg-open');
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const { status, error } = spawnSync(browser, [href], { stdio: 'ignore' });
    if (status !== 0) throw failed(`${browser} could not show it: ${error?.message ?? `exit code ${status}`}`);
    return exitCodes.done;
  },
});
