// One JSON object per line on standard input, one answer per line on standard output; an error is an answer too.
import { createInterface } from 'node:readline';

export async function serve(run: (command: never) => unknown): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    let answer: object;
    try {
      answer = { ok: true, ...Object(run(JSON.parse(line) as never)) };
    } catch (error) {
      answer = { ok: false, error: error instanceof Error ? error.message : String(error) };
    }
    console.log(JSON.stringify(answer));
  }
}
