import { expect } from 'chai';
import type { FromWorker } from '../../../src/proxy/worker/protocol.ts';
import { remoteLogger } from '../../../src/proxy/worker/remote-logger.ts';
import { LevelCell, LogLevels } from '../../../src/telemetry/log-levels.ts';

describe('log levels', () => {
  it('are those of one module, or of all', () => {
    const levels = new LogLevels('info');
    levels.set('debug', 'proxy');
    expect(levels.all).to.deep.equal({
      level: 'info',
      modules: { main: 'info', api: 'info', proxy: 'debug', raft: 'info', fleet: 'info' },
    });
    levels.set('error');
    expect(levels.all.level).to.equal('error');
    expect(new Set(Object.values(levels.all.modules))).to.deep.equal(new Set(['error']));
  });

  it('are seen by other threads at once: a worker sends no line below its level', () => {
    const levels = new LogLevels('info');
    const sent: string[] = [];
    const say = (message: FromWorker): void => void (message.type === 'log' && sent.push(message.message));
    const logger = remoteLogger(say, new LevelCell(levels.cell('proxy').bytes)).child({ worker: 1 });
    logger.debug({}, 'quiet');
    levels.set('debug', 'proxy');
    logger.debug({}, 'heard');
    levels.set('error', 'proxy');
    logger.warn({}, 'quiet again');
    logger.error({}, 'heard again');
    expect(sent).to.deep.equal(['heard', 'heard again']);
  });
});
