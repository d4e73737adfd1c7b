// Proposals to the log of this node, each with the span `commit` until the log has answered.
import type { WriteTraces } from '../write-traces.ts';
import type { LogPort } from './log-port.ts';

export const tracedProposals = (port: Pick<LogPort, 'propose'>, traces: WriteTraces): Pick<LogPort, 'propose'> => ({
  propose(bytes, ended) {
    const committed = traces.committing();
    port.propose(bytes, (answer) => {
      committed(answer.is === 'refused' ? answer.refused.outcome : '');
      ended(answer);
    });
  },
});
