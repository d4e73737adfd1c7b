// File of the time that a node has measured of an activation which waits for its confirmation. What cannot be read or written costs
// nothing but precision after a restart: wall clocks tell the rest.
import { join } from 'node:path';
import { readIfPresent, writeDurably } from '../../disk/durable-file.ts';
import type { MeasuredTime } from './confirmation-controller.ts';

export class ConfirmationFile {
  readonly #path: string;
  #last: MeasuredTime | undefined;
  #isWriting = false;

  private constructor(path: string, last: MeasuredTime | undefined) {
    this.#path = path;
    this.#last = last;
  }

  static async open(storePath: string): Promise<ConfirmationFile> {
    const path = join(storePath, 'confirmation.json');
    const text = await readIfPresent(path).catch(() => undefined);
    return new ConfirmationFile(path, text === undefined ? undefined : measuredIn(text));
  }

  get last(): MeasuredTime | undefined {
    return this.#last;
  }

  /** Soon on disk; left out while the disk is still busy with an earlier one. */
  write(measured: MeasuredTime): void {
    this.#last = measured;
    if (this.#isWriting) return;
    this.#isWriting = true;
    void writeDurably(this.#path, JSON.stringify(measured))
      .catch(() => undefined)
      .finally(() => {
        this.#isWriting = false;
      });
  }
}

function measuredIn(text: string): MeasuredTime | undefined {
  try {
    const { index, passedMs, clocksMs } = JSON.parse(text) as Partial<MeasuredTime>;
    if (!Array.isArray(clocksMs) || ![index, passedMs, ...clocksMs].every(Number.isFinite)) return undefined;
    return { index, passedMs, clocksMs } as MeasuredTime;
  } catch {
    return undefined;
  }
}
