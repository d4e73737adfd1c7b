// The log of a worker: main writes the lines, one stream of whole ones. What the level of the proxy leaves out is not
// even sent.
import type { LevelCell } from '../../telemetry/log-levels.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { FromWorker } from './protocol.ts';

type LogFields = Readonly<Record<string, unknown>>;

export function remoteLogger(post: (message: FromWorker) => void, allowed: LevelCell, common: LogFields = {}): Logger {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (fields: LogFields, message: string): void => {
      if (allowed.allows(level)) post({ type: 'log', level, fields: { ...common, ...fields }, message });
    };
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => remoteLogger(post, allowed, { ...common, ...fields }),
  };
}
