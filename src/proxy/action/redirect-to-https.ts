// Redirect of a listener that is there for https alone: each request is answered before routing (contract.md §2.2).
import { listenerDefaults } from '../../model/defaults.ts';
import type { RedirectToHttps } from '../../model/listener.ts';
import type { LocalReply } from '../exchange/phase.ts';
import { fieldText } from '../fields/field-lines.ts';
import type { RoutedRequest } from '../message/routed-request.ts';
import type { EntryPath } from '../target/path.ts';
import { compileRedirect, redirectAnswer } from './redirect.ts';

/** Returns the answer to a request; undefined when it names no host to go on from. */
export type HttpsRedirect = (request: RoutedRequest) => LocalReply | undefined;

const anyPath: EntryPath = { type: 'prefix', text: '', routePart: 'none', endsAtSegment: false };

export function httpsRedirect({ port, code = listenerDefaults.redirectToHttps.code }: RedirectToHttps): HttpsRedirect {
  const plan = compileRedirect({ scheme: 'https', code, ...(port !== undefined && { port }) }, []);
  return (request) => {
    if (request.authority === '') return undefined;
    const { status, location } = redirectAnswer(plan, anyPath, request);
    return { status, fields: ['Location', fieldText(location)], body: '' };
  };
}
