// Proposals to the log of this node, each with the span `commit` until the log has answered.
import type { WriteTraces } from '../write-traces.ts';
import { failureOf, type LogPort } from './log-port.ts';

export const tracedProposals = (port: Pick<LogPort, 'propose'>, traces: WriteTraces): Pick<LogPort, 'propose'> => ({
  propose(bytes, ended) {
    const committed = traces.committing();
    port.propose(bytes, (outcome) => {
      committed(outcome.kind === 'committed' ? '' : failureOf(outcome).outcome);
      ended(outcome);
    });
  },
});
