// `completion`: what a shell loads to complete commands and flags.
import { command } from '../command-declaration.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { shells } from '../shells.ts';

export const completionCommand = command({
  words: 'completion',
  brief: 'Print completions for a shell',
  arguments: [{ name: 'SHELL', brief: 'Shell', choices: shells }],
  isLocal: true,
  examples: [
    { line: 'source <(sluice completion bash)', does: 'completes in this shell of bash' },
    { line: 'sluice completion fish > ~/.config/fish/completions/sluice.fish', does: 'completes in fish from now on' },
  ],
  async run(session, [shell = '']) {
    if (!shells.some((each) => each === shell)) throw wrongUsage(`completion takes ${shells.join(', ')}, not ${shell}`);
    session.terminal.write(await session.options.completionFor(shell));
    return exitCodes.done;
  },
});
