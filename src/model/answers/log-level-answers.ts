// Levels of the log of a node, and their change.
import { oneOf, record } from '../json-type.ts';
import { type LogLevel, type LogModule, logLevels, logModules } from '../log-module.ts';
import { Component, Optional, Required } from '../property.ts';

const level = 'What is logged: that and above.';

@Component('Which level, of what.')
export class LogLevelRequest {
  @Required(oneOf(logLevels), level)
  readonly level!: LogLevel;

  @Optional(oneOf(logModules), 'Absent: all, those with a level of their own too.')
  readonly module?: LogModule;
}

@Component('How much a node logs.', { as: 'LogLevels' })
export class ShownLogLevels {
  @Required(oneOf(logLevels), 'Of modules that were given none of their own.')
  readonly level!: LogLevel;

  @Required(
    record(logModules, oneOf(logLevels), () => level),
    'The level of each.',
  )
  readonly modules!: Readonly<Record<LogModule, LogLevel>>;
}
