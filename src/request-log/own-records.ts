// Records of this process.
import type { RecentSource } from '../model/recent-request.ts';
import type { RecordSource } from './recorded-requests.ts';
import type { Passes } from './request-query.ts';

export const ownRecords = (name: string, source: RecentSource, passes: Passes): RecordSource => ({
  name,
  page: (limit, before) => source.page(limit, passes, before),
});
