// Keys `telemetry.recent…`: size of the request log, and the recorded headers and parameters (observability.md).
import { integer, texts } from './scalar-key.ts';

export interface RecentRequestSettings {
  /** Number of records that are kept; 0: none. */
  readonly slots: number;
  /** Names of the fields whose values are kept, in lower case. */
  readonly headers: readonly string[];
  /** Names of the parameters of the query whose values are kept. */
  readonly query: readonly string[];
}

const parameterMax = 128;
const fieldName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/;

export const requestLogKeys = {
  recentRequests: integer(
    'requests that a process remembers for [`GET /requests`](observability.md#recent-requests), 1 KiB each; 0 for none',
    { min: 0, max: 100_000, otherwise: 10_000 },
  ),
  recentRequestHeaders: texts('headers of which they keep the value (256 characters); of all others nothing is kept', {
    lengthMax: 16,
    usual: '`[]`',
    check: (name) => (fieldName.test(name) && name !== '__proto__' ? undefined : 'must be the name of a header'),
  }),
  recentRequestQuery: texts(
    'query parameters of which they keep the first value (256 characters); of all others the name alone is kept',
    {
      lengthMax: 16,
      usual: '`[]`',
      check: (name) =>
        name !== '' && name.length <= parameterMax && name !== '__proto__'
          ? undefined
          : `must be the name of a parameter, at most ${parameterMax} characters`,
    },
  ),
};
