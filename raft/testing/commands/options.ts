// Options of a command for developers. The first comment of its file is its help, so that there is one text.
import { readFileSync } from 'node:fs';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * As `parseArgs` reads them. Ends the process: with the help after `--help`, with 2 and a line for what it does not know.
 * @param file the command, as a URL.
 * @param help where the first comment of the file does not say all; default: that comment.
 */
export function optionsOf<T extends ParseArgsConfig>(
  file: string,
  config: T,
  help = () => firstComment(readFileSync(new URL(file), 'utf8')),
): ReturnType<typeof parseArgs<T>> {
  try {
    const options: ParseArgsConfig['options'] = { ...config.options, help: { type: 'boolean', short: 'h' } };
    const read = parseArgs({ ...config, options });
    if (!('help' in read.values)) return read as ReturnType<typeof parseArgs<T>>;
    console.log(help());
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message} (--help tells what there is)`);
    process.exit(2);
  }
}

export function firstComment(source: string): string {
  const lines = source.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  const text = lines.slice(0, end === -1 ? lines.length : end).map((line) => line.replace(/^\/\/ ?/, ''));
  return text.join('\n');
}
