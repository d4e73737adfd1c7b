// `npm run fuzz:exchanges -- --minutes 5 --seed 1`: mixed exchanges (test/support/mixed-exchanges.ts) in runs of 20 s, calm
// and rough in turn, each with the next seed. Prints what was found with the seed of its run, and ends with 1 then.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { mixedExchanges } from '../support/mixed-exchanges.ts';
import { endAll } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string' },
  },
});
const endMs = performance.now() + Number(values.minutes) * 60_000;
const seconds = Number(values.seconds);
let found = 0;

try {
  for (let seed = Number(values.seed); performance.now() < endMs; seed++) {
    const rough = values.only === undefined ? seed % 2 === 1 : values.only === 'rough';
    const { failures, counts, activations, complaints } = await mixedExchanges({ seed, seconds, rough });
    found += failures.length;
    for (const failure of failures.slice(0, 30)) console.error(failure);
    if (failures.length > 0) console.error(`the upstream complained of ${JSON.stringify(complaints)}`);
    const kinds = JSON.stringify(counts);
    console.log(
      `--seed ${seed} ${rough ? 'rough' : 'calm'}: ${failures.length} failures, ${activations} activations, ${kinds}`,
    );
  }
} finally {
  endAll();
}
process.exitCode = found === 0 ? 0 : 1;
