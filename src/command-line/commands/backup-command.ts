// `backup`: everything acknowledged, in one file.
import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { command } from '../command-declaration.ts';
import { CommandFailure, exitCodes, failed, wrongUsage } from '../exit.ts';
import { bytesText } from '../live/cluster-report.ts';

export const backupCommand = command({
  words: 'backup',
  brief: 'Write everything that was acknowledged into one file',
  text: 'For `sluice restore`. The file is whole or not there; one that is there already is not replaced.',
  flags: { file: { kind: 'text', alias: 'o', value: 'FILE', brief: 'File to write; - is standard output' } },
  examples: [{ line: 'sluice backup -o sluice.backup', does: 'writes the backup' }],
  async run(session, _, { file }) {
    if (file === undefined) throw wrongUsage('backup needs -o FILE');
    if (file !== '-' && existsSync(file)) throw failed(`${file} is there already`);
    const answer = await (await session.api()).stream('/cluster/backup');
    const fresh = `${file}.${randomUUID().slice(0, 8)}.part`;
    let bytes = 0;
    answer.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    try {
      if (file === '-') await pipeline(answer, process.stdout, { end: false });
      else {
        process.once('exit', () => rmSync(fresh, { force: true }));
        await pipeline(answer, createWriteStream(fresh, { flags: 'wx', mode: 0o600, flush: true }));
        renameSync(fresh, file);
      }
    } catch (error) {
      throw new CommandFailure(
        exitCodes.failed,
        `the backup is not whole: ${error instanceof Error ? error.message : error}`,
      );
    }
    session.terminal.hint(
      `backup    ${file} ${bytesText(bytes)} at index ${answer.headers['x-sluice-revision'] ?? '?'}`,
    );
    return exitCodes.done;
  },
});
