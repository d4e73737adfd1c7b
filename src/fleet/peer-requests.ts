// Questions of another node about the fleet, read. It is a member, but perhaps of another version.
import { SluiceError } from '../errors.ts';
import type { FleetQuestion } from './fleet-admin.ts';
import { acknowledgementOf, reportOf } from './peer-messages.ts';

type Json = Readonly<Record<string, unknown>>;

/** Throws INVALID. */
export function fleetQuestionOf({ op, index, id, message }: Json): FleetQuestion {
  if (op === 'view' || op === 'rollout') return { op };
  if (op === 'progress' && typeof index === 'number') return { op, index };
  if (op === 'forget' && typeof id === 'string') return { op, id };
  if (op === 'acknowledge' && isObject(message)) return { op, message: acknowledgementOf(message) };
  if (op === 'report' && isObject(message)) return { op, message: reportOf(message) };
  throw new SluiceError('INVALID', 'this node does not understand the question');
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
