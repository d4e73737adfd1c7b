// `npm run fuzz:http2 -- --frames 1000000 --seed 1 --minutes 3`: frames and header blocks against oracles, in three parts
// that take turns: requests beside Node's own HTTP/2, responses of upstreams that say anything, HPACK beside a slow decoder.
// What differs is printed with the numbers that show it again (`--only requests --seed S --from RUN`), and ends with 1.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import type { FuzzRun } from './http2/findings.ts';
import { fuzzHeaderBlocks } from './http2/header-blocks.ts';
import { fuzzRequests } from './http2/requests.ts';
import { fuzzResponses } from './http2/responses.ts';

const parts: Readonly<Record<string, (seed: number, run: number) => FuzzRun | Promise<FuzzRun>>> = {
  requests: fuzzRequests,
  responses: fuzzResponses,
  hpack: fuzzHeaderBlocks,
};
/** Runs of one part before the next takes its turn. */
const turnRuns = 256;
const findingsMax = 5;

const { values } = optionsOf(import.meta.url, {
  options: {
    frames: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '60' },
    only: { type: 'string' },
  },
});

async function fuzz(): Promise<number> {
  const chosen = Object.entries(parts).filter(([name]) => values.only === undefined || name === values.only);
  const [frames, seed, minutes] = [Number(values.frames), Number(values.seed), Number(values.minutes)];
  if (chosen.length === 0 || ![frames, seed, minutes].every(Number.isFinite))
    throw new Error('see the head of the file');
  const looked = new Map<string, number>();
  const startedMs = performance.now();
  let findings = 0;
  for (let run = Number(values.from); ; run += turnRuns) {
    for (const [name, part] of chosen) {
      for (let each = run; each < run + turnRuns; each++) {
        const { finding, looked: more } = await part(seed, each);
        looked.set(name, (looked.get(name) ?? 0) + more);
        if (finding === undefined) continue;
        console.error(`--only ${name} --seed ${seed} --from ${each}: ${finding}`);
        if (++findings >= findingsMax) return findings;
      }
    }
    const sum = [...looked.values()].reduce((total, count) => total + count, 0);
    if (sum < frames && performance.now() - startedMs < minutes * 60_000) continue;
    const counts = [...looked].map(([name, count]) => `${count} of ${name}`).join(', ');
    console.log(`${counts}; ${findings} findings; next: --seed ${seed} --from ${run + turnRuns}`);
    return findings;
  }
}

process.exitCode = (await fuzz()) === 0 ? 0 : 1;
