// Limits of time in tests: on a machine where much else runs a short one fails for nothing. What depends on the clock waits for a
// condition, by `eventually`, with a limit of minutes.
import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url).pathname;
const minuteMs = 60_000;

/** Files with short limits, each with the reason why a slow machine does not fail them. */
const short: Readonly<Record<string, string>> = {
  'test/cluster/drills.test.ts': 'a try of a question that is asked again',
  'test/cluster/fleet-faults.test.ts': 'a try of a question that is asked again',
  'test/cluster/owners.test.ts': 'a try of a request that is sent again',
  'test/process/every-fate.test.ts': 'a try within a longer wait',
  'test/support/node-cluster.ts': 'a try of a question that is asked again',
  'test/support/numbered-route.ts': 'an answer that may be missing',
  'test/support/proxy-bed.ts': 'time that a closing proxy leaves its connections',
  'test/support/register-clients.ts': 'a request whose outcome is unknown then, which the check allows for',
  'test/support/silent-port.ts': 'a connection that is not made',
  'test/threads/proxy/candidates.test.ts': 'time that a closing proxy leaves its connections',
  'test/threads/proxy/workers.test.ts': 'time that a closing proxy leaves its connections',
  'test/unit/proxy/middleware/access-log-on-sockets.test.ts': 'time that a closing proxy leaves its connections',
  'test/unit/proxy/path-report.test.ts': 'time that a closing proxy leaves its connections',
  'test/unit/proxy/policies/circuit-breaker.test.ts': 'a try within a longer wait',
  'test/unit/proxy/redaction.test.ts': 'time that a closing proxy leaves its connections',
  'test/unit/proxy/tls/listener.test.ts': 'time that a closing proxy leaves its connections',
};

const limits = [
  /\bwithinMs(?:: | = )([\d_]+)/g,
  /\bAbortSignal\.timeout\(([\d_]+)\)/g,
  /\bthis\.timeout\(([\d_]+)\)/g,
  /\}\)\.timeout\(([\d_]+)\)/g,
];

/** Shortest limit in a text, in milliseconds; infinite where there is none. */
const shortestIn = (text: string): number =>
  Math.min(
    ...limits.flatMap((limit) => [...text.matchAll(limit)].map(([, ms = '']) => Number(ms.replaceAll('_', '')))),
  );

describe('limits of time in tests', () => {
  const files = globSync('test/{api,cluster,process,simulation,support,threads,unit}/**/*.ts', { cwd: root }).sort();

  it('are of a minute at least, or named with the reason', () => {
    const others = files.filter((file) => !import.meta.filename.endsWith(file));
    const found = others.filter((file) => shortestIn(readFileSync(`${root}${file}`, 'utf8')) < minuteMs);
    expect(found).to.deep.equal(Object.keys(short).sort());
  });

  it('are found in each form', () => {
    expect(shortestIn('this.timeout(20_000); await call(url, { withinMs: 3_000 })')).to.equal(3_000);
    expect(shortestIn('AbortSignal.timeout(500); eventually(look)')).to.equal(500);
    expect(shortestIn('eventually(look)')).to.equal(Number.POSITIVE_INFINITY);
  });
});
