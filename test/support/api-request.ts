import type { Role } from '../../src/model/api-role.ts';
import { anonymousAdmin } from '../../src/resources/caller.ts';
import type { ApiRequest } from '../../src/resources/resource-answer.ts';

interface Parts {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly role?: Role;
}

/** A request as the controllers hand it to a service. */
export const apiRequest = ({ body, headers = {}, query = {}, role }: Parts = {}): ApiRequest => ({
  caller: role === undefined ? anonymousAdmin : { name: `key of ${role}`, role },
  path: '/api/v1/groups',
  query,
  headers,
  body: Buffer.from(body === undefined ? '' : JSON.stringify(body)),
});
