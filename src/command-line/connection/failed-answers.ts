// Answers that are failures: refusals, servers that give none, redirections, and what their bodies say.
import type { IncomingMessage } from 'node:http';
import type { Finding } from '../../model/answers/finding-answers.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { printable } from '../output/text-table.ts';
import type { CallTarget, Distrust } from './http-call.ts';

/** The server refused the request: a status from 400 on. */
export class ApiRefusal extends CommandFailure {
  readonly status: number;

  /** `lines` follow the message. */
  constructor(status: number, message: string, lines: readonly string[] = []) {
    super(status >= 500 ? exitCodes.failed : exitCodes.refused, `the server answered ${status}: ${message}`, lines);
    this.name = 'ApiRefusal';
    this.status = status;
    this.reason = message;
  }

  /** Text of the server alone. */
  readonly reason: string;
}

export interface Unanswered {
  readonly server: CallTarget;
  readonly status?: number;
  readonly why: string;
  readonly isFinal: boolean;
  readonly wasSent?: boolean;
  readonly distrust?: Distrust | undefined;
}

export function unanswered(failures: readonly Unanswered[], isUnknown: boolean): CommandFailure {
  const last = new Map(failures.map((failure) => [failure.server, failure]));
  const lines = [...last.values()].map(({ server, status, why }) =>
    printable(`${server.url.origin}: ${status ?? ''}${status ? ' ' : ''}${why}`, true),
  );
  const distrusted = failures.find(({ distrust }) => distrust !== undefined);
  if (distrusted !== undefined && last.size === 1)
    return new CommandFailure(exitCodes.unreachable, distrustText(distrusted));
  const hint = isUnknown ? '; it may have been carried out all the same' : '';
  const [only] = lines;
  const isCluster = [...last.values()].every(({ status }) => status === 503 || status === 504);
  const what = isCluster ? 'the cluster cannot do it now' : 'no server can be reached';
  return lines.length === 1
    ? new CommandFailure(exitCodes.unreachable, `${what}: ${only}${hint}`)
    : new CommandFailure(exitCodes.unreachable, `${what}${hint}`, lines);
}

function distrustText({ server: { url }, why, distrust }: Unanswered): string {
  if (distrust === 'client')
    return `${url.origin} takes no connection without a certificate that it trusts: --cert, --key; ${why}`;
  const hint = distrust === 'authority' ? '; --ca names the authority that signed it' : '';
  return `the certificate of ${url.origin} is not trusted: ${why}${hint}`;
}

export function messageOf(text: string, { statusMessage }: IncomingMessage): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {}
  if (!/^\s*</.test(text)) return text.slice(0, 500) || statusMessage || 'no reason was given';
  const [, title] = /<title>([^<]*)<\/title>/i.exec(text) ?? [];
  return `${title?.trim() || statusMessage || 'no reason was given'} (a page of HTML, not an answer of Sluice)`;
}

/** Ways out of a refusal that the server cannot know. */
export function waysOut(status: number, message: string, hasKey: boolean): readonly string[] {
  if (status === 401 && !hasKey) return ['no API key was given: --api-key-file, SLUICE_API_KEY, or sluice login'];
  return status === 409 && /rollout "[^"]*" is under way$/.test(message) ? ['sluice rollout abort ends it'] : [];
}

/** Redirections are not followed: the key is meant for the servers that are named. */
export const redirected = ({ url }: CallTarget, { statusCode, headers }: IncomingMessage): CommandFailure =>
  new CommandFailure(
    exitCodes.failed,
    `${url.origin} answers ${statusCode} and redirects to ${headers.location ?? '(nowhere)'}: name the server itself by --server`,
  );

/** Findings for which a capture was refused. */
export function findingsIn(text: string): readonly Finding[] {
  try {
    const { findings } = JSON.parse(text) as { findings?: unknown };
    return Array.isArray(findings) ? (findings as Finding[]) : [];
  } catch {
    return [];
  }
}

/** Texts of `Warning` fields: `299 - "text"` (RFC 7234 §5.5). */
export function warningsIn(field: string | undefined): string[] {
  if (field === undefined) return [];
  return [...field.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}
