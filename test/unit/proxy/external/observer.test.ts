import { expect } from 'chai';
import type { Answer, Conversation } from '../../../../src/proxy/middleware/ext-proc/answer.ts';
import { Observer } from '../../../../src/proxy/middleware/ext-proc/observer.ts';
import { silentLogger } from '../../../../src/telemetry/logger.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('messages that wait to be observed', () => {
  const shown = async (bodyBytes: number, count: number): Promise<number> => {
    let asked = 0;
    const release: (() => void)[] = [];
    const open = (): Conversation => ({
      ask: () => {
        asked++;
        return new Promise<Answer>((resolve) => release.push(() => resolve({ kind: 'goOn' })));
      },
      end: () => {},
    });
    const limits = { workers: 1, queueMax: 100, timeoutMs: 0 };
    const observer = new Observer({ open, ...limits, logger: silentLogger, nowMs: () => 0 });
    const body = Buffer.alloc(bodyBytes);
    for (let i = 0; i < count; i++) observer.show({ phase: 'requestBody', body, endOfStream: true, observeOnly: true });
    while (release.length > 0) {
      release.shift()?.();
      await turn();
    }
    return asked;
  };

  it('are as many as the queue holds, beside the one under way', async () => {
    expect(await shown(1, 200)).to.equal(101);
  });

  it('hold 64 MiB at most, however many they may be', async () => {
    expect(await shown(4 << 20, 200)).to.equal(17);
  });
});
