import type { Answer } from './http-call.ts';
import { pause } from './long-run.ts';

const acceptedWithinMs = 120_000;

/** Asks again after what a kill excuses; `done` is what a repetition is told when the first request took effect. */
export async function untilAccepted(step: () => Promise<Answer>, done?: number): Promise<Answer> {
  const end = performance.now() + acceptedWithinMs;
  for (let repeated = false; ; repeated = true) {
    const answer = await step().catch(() => undefined);
    if (answer !== undefined && (answer.status < 300 || (repeated && answer.status === done))) return answer;
    if (answer !== undefined && answer.status < 500) throw new Error(`${answer.status} ${answer.text}`);
    if (performance.now() > end) throw new Error(`not accepted: ${answer?.text}`);
    await pause(20);
  }
}
