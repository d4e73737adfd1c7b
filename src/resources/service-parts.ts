// Parts of the services of the REST surface; each takes the parts that it needs.

import type { ReplicatedLog } from '../cluster/log/replicated-log.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Clock } from '../util/clock.ts';
import type { Installed } from './activation-report.ts';
import type { Converge } from './activation-wait.ts';
import type { NodeChecks } from './node-checks.ts';
import type { SnapshotValidator } from './snapshot-validator.ts';
import type { StateReader } from './state-reader.ts';

export interface ServiceParts {
  readonly reader: StateReader;
  readonly log: ReplicatedLog;
  readonly validator: SnapshotValidator;
  readonly node: NodeChecks;
  readonly installed: Installed;
  readonly converge: Converge;
  /** Returns whether the time for the confirmation of an activation, by its index, is over as this node measured it. */
  readonly isConfirmationOver: (index: number) => boolean;
  /** A fresh UUIDv4, lower case. */
  readonly newId: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}
