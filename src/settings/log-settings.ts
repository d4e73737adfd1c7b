// Section `log` of the settings file (contract.md §1.6).
import type { Values } from './key.ts';
import { oneOf } from './scalar-key.ts';

export const logKeys = {
  format: oneOf(['console', 'json'], 'console', '`console` for people, `json` for collectors', { isLenient: true }),
  level: oneOf(
    ['debug', 'info', 'warn', 'error'],
    'info',
    'least level of a line; of each module of a node to be changed while it runs ([the log](observability.md#the-log))',
    { isLenient: true },
  ),
};

export type LogSettings = Values<typeof logKeys>;
