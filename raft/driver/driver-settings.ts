// Numbers of the driver, with the core's among them. One place for every default.
import { lateMs } from '../../disk/disk-problem.ts';
import { payloadBytesMax } from '../codec/primitives.ts';
import { type CoreSettings, defaultSettings } from '../core/core-settings.ts';

export interface DriverSettings extends Omit<CoreSettings, 'boot'> {
  readonly tickMs: number;
  /** A gap between ticks above this counts as a stall. */
  readonly stallTicks: number;
  /** One log write carries at most this much, unless a single turn brought more. */
  readonly batchEntries: number;
  readonly batchBytes: number;
  /** Payload bytes handed to the host and not yet applied. */
  readonly applyCredit: number;
  readonly readRetryMs: number;
  readonly readLimitMs: number;
  /** A checkpoint is due after so much log (times a factor drawn from [1, 1.5), so that nodes spread). */
  readonly checkpointEntries: number;
  readonly checkpointBytes: number;
  /** Entries kept behind a checkpoint for peers that lag a little; no more than `checkpointBytes` of them. */
  readonly trailingEntries: number;
  /** Beyond this multiple of `checkpointEntries` or `checkpointBytes` no peer holds compaction up. */
  readonly lagFactor: number;
  readonly chunkBytes: number;
  readonly chunkWindow: number;
  /** Bytes per second of one checkpoint transfer. */
  readonly transferRate: number;
  readonly transferRetryMs: number;
  readonly transferTimeoutMs: number;
  readonly transfers: number;
  /** A log write outstanding for so long: slow; late, so that the node hands leadership over and takes nothing more until it ends. */
  readonly diskSlowMs: number;
  readonly diskLateMs: number;
  /** Time within which the program above must report `alive`, or the node hands over and does not campaign. */
  readonly aliveMs: number;
  readonly stopHandOverMs: number;
  readonly maxVoters: number;
  /** Learners that are catching up at the same time. */
  readonly maxCatchingUp: number;
  /** A learner within so many entries of the commit index has caught up. */
  readonly caughtUpEntries: number;
}

export const defaultDriverSettings: Omit<DriverSettings, 'clusterId' | 'id'> = {
  ...defaultSettings,
  commandBytes: payloadBytesMax,
  tickMs: 100,
  stallTicks: 3,
  batchEntries: 256,
  batchBytes: 1024 * 1024,
  applyCredit: 8 * 1024 * 1024,
  readRetryMs: 500,
  readLimitMs: 2_000,
  checkpointEntries: 8_192,
  checkpointBytes: 64 * 1024 * 1024,
  trailingEntries: 5_000,
  lagFactor: 4,
  chunkBytes: 256 * 1024,
  chunkWindow: 4,
  transferRate: 16 * 1024 * 1024,
  transferRetryMs: 1_000,
  transferTimeoutMs: 30_000,
  transfers: 2,
  diskSlowMs: 1_000,
  diskLateMs: lateMs,
  aliveMs: 5_000,
  stopHandOverMs: 1_000,
  maxVoters: 7,
  maxCatchingUp: 2,
  caughtUpEntries: 64,
};
