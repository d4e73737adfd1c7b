// Reports about leases of rate limits to the control plane whose stream is open (fleet.md §8).
import { leaseReplyOf, type ReportLeases } from '../model/lease-messages.ts';
import type { ControlPlaneLink } from './control-plane-link.ts';
import type { OpenStream } from './remote-source.ts';

export interface LeaseReportsOptions {
  readonly link: Pick<ControlPlaneLink, 'ask'>;
  readonly boot: string;
  readonly stream: () => OpenStream | undefined;
}

/** Requests may wait for an answer. */
const withinMs = 1_000;

/** Without a stream, or with one of a control plane that takes no acknowledgements, there is no leader. */
export const leaseReports =
  ({ link, boot, stream }: LeaseReportsOptions): ReportLeases =>
  async (report) => {
    const { url, token } = stream() ?? {};
    if (url === undefined || token === undefined) return undefined;
    return leaseReplyOf(await link.ask(url, '/api/v1/sync/leases', { token, boot, ...report }, withinMs));
  };
