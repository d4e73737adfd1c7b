import { expect } from 'chai';
import { ActivationLog } from '../../../src/fleet/activation-log.ts';
import type { Convergence } from '../../../src/model/answers/fleet-answers.ts';
import { logCapture } from '../../support/log-capture.ts';

const settled: Convergence = {
  wanted: 2,
  installed: 2,
  refused: 0,
  pending: 0,
  pendingProxies: [],
  unheard: [],
  tookMs: 37,
  refusals: [],
};

async function linesOf(convergence: Partial<Convergence>, leads = true): Promise<Record<string, unknown>[]> {
  const { logger, lines } = logCapture();
  const log = new ActivationLog({
    record: (index) => ({
      ...{ index, at: '', snapshotId: 's7', name: 'v7', sha256: null, rollout: null },
      ...{ by: 'ops', reason: 'activated', comment: 'new routes' },
    }),
    converge: async () => ({ ...settled, ...convergence }),
    leads: () => leads,
    logger,
  });
  await log.activated(42);
  return lines.map((line) => JSON.parse(line));
}

describe('the line of an activation', () => {
  it('says who, what and how long until every proxy had it', async () => {
    const who = { snapshot: 's7', title: 'v7', reason: 'activated', by: 'ops', comment: 'new routes' };
    expect(await linesOf({})).to.deep.equal([
      { index: 42, ...who, proxies: 2, ms: 37, message: 'an activation has reached every proxy' },
    ]);
  });

  it('names those that refuse it, or have not said', async () => {
    const [refused] = await linesOf({ refused: 1, refusals: [{ proxy: 'edge', problems: [] }] });
    expect(refused).to.deep.include({ refusedBy: ['edge'], message: 'an activation is refused by proxies' });
    const [pending] = await linesOf({ pending: 1, pendingProxies: ['edge'] });
    expect(pending).to.deep.include({ without: ['edge'], message: 'an activation has not reached every proxy' });
  });

  it('is written by the leader alone', async () => {
    expect(await linesOf({}, false)).to.deep.equal([]);
  });
});
