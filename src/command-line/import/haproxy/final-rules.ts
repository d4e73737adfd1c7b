// Rules of HAProxy that end a request: denials, fixed answers and redirects.

import type { Ledger } from '../import-ledger.ts';
import type { ImportedRoute, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';

type Answer = Pick<ImportedRoute, 'redirect' | 'directResponse'>;

/** Actions that keep requests out: those that are not read close their routes. */
export const guards = new Set(['deny', 'tarpit', 'reject', 'silent-drop', 'auth']);

const redirectCodes = [301, 302, 303, 307, 308];

const after = (words: readonly string[], name: string): string | undefined => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
};

/** Returns the answer of an action with its words; undefined where the action ends no request. */
export function answerOf(
  statement: Statement,
  action: string,
  words: readonly string[],
  ledger: Ledger,
): Answer | undefined {
  if (action === 'deny' || action === 'tarpit') {
    if (action === 'tarpit') ledger.approximated(statement, 'the answer comes at once');
    const status = Number(after(words, 'deny_status') ?? (action === 'tarpit' ? 500 : 403));
    if (
      words.some((each) => /^(string|lf-string|file|lf-file|errorfile|errorfiles|default-errorfiles|hdr)$/.test(each))
    )
      ledger.approximated(statement, 'the body and its fields are those of Sluice');
    return { directResponse: { status } };
  }
  if (action === 'reject' || action === 'silent-drop') {
    ledger.approximated(statement, 'the answer is 403, and the connection stays open');
    return { directResponse: { status: 403 } };
  }
  if (action === 'return') return fixed(statement, words, ledger);
  return action === 'redirect' ? redirected(statement, words, ledger) : undefined;
}

function fixed(statement: Statement, words: readonly string[], ledger: Ledger): Answer {
  const status = Number(after(words, 'status') ?? 200);
  const [body, format, type] = [after(words, 'string'), after(words, 'lf-string'), after(words, 'content-type')];
  const headers = words.flatMap((word, at) =>
    word === 'hdr' ? [{ key: words[at + 1] ?? '', value: words[at + 2] ?? '' }] : [],
  );
  const text = body ?? (format?.includes('%') ? undefined : format);
  if (
    words.some((each) => /^(file|lf-file|errorfile|errorfiles|default-errorfiles)$/.test(each)) ||
    (format ?? text) !== text
  )
    ledger.notTaken(statement, 'the answer has no body', 'bodyFrom of the direct response');
  const literal = headers.filter(({ value }) => !value.includes('%'));
  if (literal.length < headers.length)
    ledger.notTaken(statement, 'fields with samples are left out', 'a middleware of type headers');
  return {
    directResponse: {
      status,
      ...(text !== undefined && { body: text, contentType: type ?? 'text/plain' }),
      ...(literal.length > 0 && { headers: literal }),
    },
  };
}

function redirected(statement: Statement, words: readonly string[], ledger: Ledger): Answer {
  const redirect = locationOf(words);
  if (
    redirect === undefined ||
    words.some((each) => /^(set-cookie|clear-cookie|append-slash|ignore-empty)$/.test(each))
  ) {
    ledger.notTaken(
      statement,
      'its target or its options have no counterpart; the route answers 503',
      'redirect of a route',
    );
    return { directResponse: { status: 503 } };
  }
  const code = Number(after(words, 'code') ?? 302);
  return { redirect: { ...redirect, code: redirectCodes.includes(code) ? code : 302 } };
}

const uri = '%\\[(?:capture\\.req\\.uri|url|pathq)\\]';
const ownHost = '%\\[(?:req\\.)?hdr\\(host\\)(?:,[^\\]]*)?\\]';

function locationOf(words: readonly string[]): ModelFields | undefined {
  const [kind = '', target = ''] = words;
  const query: ModelFields = words.includes('drop-query') ? { stripQuery: true } : {};
  if (kind === 'scheme') return /^https?$/.test(target) ? { scheme: target, ...query } : undefined;
  if (kind === 'location' && !target.includes('%')) return target === '' ? undefined : { url: target };
  const bare = kind === 'location' ? new RegExp(`^(.*?)${uri}$`).exec(target)?.[1] : target.replace(/\/$/, '');
  if (bare === undefined || kind === '') return undefined;
  const [, scheme, host, port] =
    /^(https?):\/\/([A-Za-z0-9._-]+|%H)(?::(\d+))?$/.exec(bare.replace(new RegExp(ownHost), '%H')) ?? [];
  if (scheme === undefined) return undefined;
  return { scheme, ...(host !== '%H' && { host }), ...(port !== undefined && { port: Number(port) }), ...query };
}
