// Header edits of Caddy, with its placeholders as those of Sluice.
import type { Fields } from '../fields.ts';
import type { ModelFields } from '../intermediate.ts';

const placeholders: Readonly<Record<string, string>> = {
  'http.request.host': '${request.host}',
  'http.request.hostport': '${request.authority}',
  'http.request.method': '${request.method}',
  'http.request.scheme': '${request.scheme}',
  'http.request.remote.host': '${request.clientIp}',
  'http.vars.client_ip': '${request.clientIp}',
  'http.request.uri.path': '${request.path}',
  'http.request.orig_uri.path': '${request.path}',
  'http.request.uuid': '${request.id}',
};

/** Returns the value with placeholders of Sluice, or undefined where one has no counterpart. */
function valueOfText(text: string): { readonly value: string; readonly interpolate?: false } | undefined {
  let known = true;
  let isLiteral = true;
  const value = text.replace(/\{([a-z_]+(?:\.[A-Za-z0-9_-]+)+)\}/g, (_, name: string) => {
    isLiteral = false;
    const header = /^http\.request\.header\.(.+)$/.exec(name)?.[1];
    const found =
      placeholders[name] ?? (header === undefined ? undefined : `\${request.header.${header.toLowerCase()}}`);
    known &&= found !== undefined;
    return found ?? '';
  });
  if (!known) return undefined;
  return isLiteral ? { value, interpolate: false } : { value };
}

/** Edits of `request` and `response`. Fields of a condition on the response are not taken. */
export function headerEdits(handler: Fields): ModelFields {
  return { ...sideOf(handler, 'request'), ...sideOf(handler, 'response') };
}

function sideOf(handler: Fields, side: 'request' | 'response'): ModelFields {
  const fields = handler.child(side);
  if (fields === undefined) return {};
  fields.text('deferred');
  fields.notTaken('require', 'changes are made to every response', 'when of the field');
  fields.notTaken('replace', 'parts of values are not replaced', 'extProc');
  const edits = (['set', 'add'] as const).flatMap((verb) => {
    const block = fields.child(verb);
    return (block?.keys ?? []).flatMap((key) =>
      (block?.texts(key) ?? []).flatMap((text, at) => {
        const value = valueOfText(text);
        if (value === undefined) block?.notTaken(key, 'its placeholders have no counterpart', '${…} of header values');
        return value === undefined ? [] : [{ key, ...value, ...((verb === 'add' || at > 0) && { append: true }) }];
      }),
    );
  });
  const removed = fields.texts('delete');
  return {
    ...(edits.length > 0 && { [`${side}HeadersToAdd`]: edits }),
    ...(removed.length > 0 && { [`${side}HeadersToRemove`]: removed }),
  };
}
