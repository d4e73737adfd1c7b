// Variables of nginx in header values, as placeholders of Sluice.

const placeholders: Readonly<Record<string, string>> = {
  host: '${request.host}',
  http_host: '${request.authority}',
  uri: '${request.path}',
  document_uri: '${request.path}',
  request_method: '${request.method}',
  scheme: '${request.scheme}',
  remote_addr: '${request.clientIp}',
  request_id: '${request.id}',
};

/** Returns the value with placeholders, or undefined where a variable has none. `isLiteral`: there is no variable. */
export function valueWithPlaceholders(
  text: string,
): { readonly value: string; readonly isLiteral: boolean } | undefined {
  let known = true;
  let isLiteral = true;
  const value = text.replace(/\$\{?([a-z_][a-z0-9_]*)\}?/gi, (_, name: string) => {
    isLiteral = false;
    const header = /^http_([a-z0-9_]+)$/.exec(name)?.[1];
    const found =
      placeholders[name] ?? (header === undefined ? undefined : `\${request.header.${header.replaceAll('_', '-')}}`);
    known &&= found !== undefined;
    return found ?? '';
  });
  return known ? { value, isLiteral } : undefined;
}
