// `npm run fuzz:policies -- --requests 100000 --seed 1`: mutated requests over HTTP/1.1 and HTTP/2 through a node with every
// middleware. An upstream that judges each request by itself, other clients, the grammar of answers, access logs and memory
// say what should not have happened; a finding ends it with 1.
import { optionsOf } from '../../raft/testing/commands/options.ts';
import { fuzzPolicies } from '../support/policy-fuzz/run.ts';
import { endAll } from '../support/sluice-process.ts';

const { values } = optionsOf(import.meta.url, {
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
  },
});

try {
  const { findings, ...counts } = await fuzzPolicies({
    seed: Number(values.seed),
    requests: Number(values.requests),
    progress: (sent) => console.log(`${sent} sent`),
  });
  for (const finding of findings) console.error(finding);
  console.log(`--seed ${values.seed}: ${findings.length} findings, ${JSON.stringify(counts)}`);
  process.exitCode = findings.length === 0 ? 0 : 1;
} finally {
  endAll();
}
