import { expect } from 'chai';
import { LeaderControllers } from '../../../src/leader/leader-controllers.ts';
import type { Draft, Result } from '../../../src/state/command.ts';
import { ConfigState } from '../../../src/state/config-state.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the controllers of a leader', () => {
  it('warn of a rollout that a guard failed, with guard and figures, and tell a step at info', async () => {
    const lines: [string, object, string][] = [];
    const at = (level: string) => (fields: object, text: string) => void lines.push([level, fields, text]);
    const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
    const guard = 'candidate.errorRate < 0.1';
    const failed = { action: 'fail', because: 'guard failed', guard, values: { share: 10 } };
    const drafts = [{ action: 'advance' }, failed].map(
      (drive) => ({ op: 'rollout', id: 'r', epoch: 3, ...drive }) as unknown as Draft,
    );
    const clock = new ManualClock();
    const controllers = new LeaderControllers({
      log: { leads: true, propose: async () => ({ status: 200 }) as Result },
      view: new ConfigState(),
      clock,
      logger,
      controllers: [{ name: 'a rollout', due: () => drafts.shift() }],
    });
    controllers.start();
    for (let look = 0; look < 2; look++) {
      clock.advance(250);
      await Promise.resolve();
      await Promise.resolve();
    }
    controllers.end();
    expect(lines.map(([level, , text]) => [level, text])).to.deep.equal([
      ['info', 'a rollout: carried out'],
      ['warn', 'a rollout: a guard failed'],
    ]);
    expect(lines[1]?.[1]).to.deep.include({ guard, values: { share: 10 } });
  });
});
