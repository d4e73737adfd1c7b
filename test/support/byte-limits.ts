// Limits in bytes of the settings and of the fields of resources, as the generated pages of docs/ name them.
import { readdirSync, readFileSync } from 'node:fs';

const docs = new URL('../../docs/', import.meta.url);

const isNamed = /(Bytes|KB|BodyMaxSize)$/;
const isTold = /at most [\d,]+ (bytes|[KM]iB)|\d [KM]iB each|(Most|Bytes) (bytes )?of /;

/** Returns `proxy.retryBufferBytes` for a setting and `routes directResponse.bodyFrom.text` for a field. */
export function byteLimits(): string[] {
  const kinds = readdirSync(new URL('fields/', docs)).filter((name) => name !== 'README.md');
  return [
    ...limitsIn(readFileSync(new URL('settings.md', docs), 'utf8'), () => ''),
    ...kinds.flatMap((name) =>
      limitsIn(readFileSync(new URL(`fields/${name}`, docs), 'utf8'), (block) =>
        [name.replace('.md', ''), ' ', block, block === '' ? '' : '.'].join(''),
      ),
    ),
  ];
}

/** `prefixOf`: what stands before the name of a field in the table of that block. */
function limitsIn(page: string, prefixOf: (block: string) => string): string[] {
  const found: string[] = [];
  let block = '';
  for (const line of page.split('\n')) {
    block = /^## `(.+)`/.exec(line)?.[1] ?? block;
    const [, cell = '', ...rest] = line.split('|').map((text) => text.trim());
    const name = /^`(.+)`$/.exec(cell)?.[1];
    if (name !== undefined && (isNamed.test(name) || isTold.test(rest.join(' '))))
      found.push(`${prefixOf(block)}${name}`);
  }
  return found;
}
