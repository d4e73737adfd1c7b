// Questions of another node about the fleet, read. It is a member, but perhaps of another version.

import { SluiceError } from '../errors.ts';
import type { LeaseMessage, LeaseReport } from '../model/answers/lease-answers.ts';
import { isCount } from '../model/json-object.ts';
import { type PageQuestion, pageQuestionOf } from '../model/recorded-page.ts';
import type { ChainPlace, TrafficQuestion } from '../traffic/node-traffic.ts';
import { leaseMessageOf, leaseReportOf } from './leases/lease-report.ts';
import {
  type AcknowledgementMessage,
  type AnswerMessage,
  acknowledgementOf,
  answerOf,
  type ReportMessage,
  reportOf,
} from './peer-messages.ts';

/** Request of one node to another. */
export type FleetRequest =
  | { readonly op: 'view' }
  | { readonly op: 'progress'; readonly index: number }
  | { readonly op: 'rollout' }
  | { readonly op: 'shadow' }
  | { readonly op: 'disks' }
  | { readonly op: 'mismatches'; readonly limit: number }
  | { readonly op: 'roster'; readonly life: string; readonly version: number }
  | { readonly op: 'forget'; readonly id: string }
  | { readonly op: 'acknowledge'; readonly message: AcknowledgementMessage }
  | { readonly op: 'report'; readonly message: ReportMessage }
  | { readonly op: 'answer'; readonly message: AnswerMessage }
  /** Page of recorded requests, of a proxy that follows the node; null: of its own. */
  | { readonly op: 'recorded'; readonly proxy: string | null; readonly page: PageQuestion }
  | { readonly op: 'leases'; readonly message: LeaseMessage }
  | { readonly op: 'lease'; readonly holder: string; readonly report: LeaseReport }
  | { readonly op: 'leaseEnded'; readonly holder: string }
  | { readonly op: 'leaseLedger'; readonly term: number }
  | ({ readonly op: 'traffic' } & TrafficQuestion);

export interface FleetPeer {
  readonly nodeId: string;
  /** The answer as JSON; undefined when the node gives none in time. Never rejects. */
  ask(question: FleetRequest, withinMs: number): Promise<unknown>;
}

type Json = Readonly<Record<string, unknown>>;

/** Throws INVALID. */
export function fleetRequestOf(asked: Json): FleetRequest {
  const { op, index, id, message, life, version, routes, history, proxy, page, holder, report, term, limit } = asked;
  // A node of an earlier version does not ask for chains.
  const { chains = [] } = asked;
  if (op === 'view' || op === 'rollout' || op === 'shadow' || op === 'disks') return { op };
  if (op === 'mismatches' && isCount(limit)) return { op, limit };
  if (op === 'roster' && typeof life === 'string' && typeof version === 'number') return { op, life, version };
  if (op === 'progress' && typeof index === 'number') return { op, index };
  if (op === 'forget' && typeof id === 'string') return { op, id };
  if (op === 'acknowledge' && isObject(message)) return { op, message: acknowledgementOf(message) };
  if (op === 'report' && isObject(message)) return { op, message: reportOf(message) };
  if (op === 'answer' && isObject(message)) return { op, message: answerOf(message) };
  const question = op === 'recorded' && isObject(page) ? pageQuestionOf(page) : undefined;
  if (question !== undefined && (proxy === null || typeof proxy === 'string'))
    return { op: 'recorded', proxy, page: question };
  if (op === 'leases' && isObject(message)) return { op, message: leaseMessageOf(message) };
  if (op === 'lease' && typeof holder === 'string') return { op, holder, report: leaseReportOf(report) };
  if (op === 'leaseLedger' && typeof term === 'number') return { op, term };
  if (op === 'leaseEnded' && typeof holder === 'string') return { op, holder };
  if (op === 'traffic' && isTexts(routes) && typeof history === 'boolean' && isPlaces(chains))
    return { op, routes, history, chains };
  throw new SluiceError('INVALID', 'this node does not understand the question');
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isPlaces = (value: unknown): value is readonly ChainPlace[] =>
  Array.isArray(value) && value.every((each) => isTexts(each) && each.length === 2);

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
