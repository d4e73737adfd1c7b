// Samples of HAProxy and the patterns they are compared with, as terms of CEL and fields of a match.
import { quoteRegex } from '../../../expression/regex.ts';
import type { ImportedRoute, PathMatch } from '../intermediate.ts';
import { samplePath, sampleText } from '../sample-path.ts';
import { celText, clientIn, isCidr, regexProblem } from '../shared/common.ts';

export interface Term {
  readonly cel: string;
  /** The same as fields of a match. */
  readonly hosts?: readonly string[];
  readonly path?: PathMatch;
  readonly methods?: readonly string[];
  readonly scheme?: 'http' | 'https';
  readonly sni?: readonly string[];
  readonly cidrs?: readonly string[];
  /** User list whose users it lets in. */
  readonly users?: string;
  readonly isNegated?: boolean;
  /** Limit above which it holds. */
  readonly limit?: BodyLimit | RateLimit;
  readonly sample?: ImportedRoute['sample'];
}

interface BodyLimit {
  readonly of: 'body';
  readonly bytesMax: number;
}

export interface RateLimit {
  readonly of: 'rate';
  /** Number of the tracked counter, or `src` for the address of the client. */
  readonly counter: string;
  /** Name of the table, where the sample says one. */
  readonly table: string | undefined;
  /** Requests in the period of the table. */
  readonly requests: number;
}

/** `isLimit`: what is compared is a count or a rate. */
export interface NoTerm {
  readonly why: string;
  readonly isLimit: boolean;
}

type Method = 'str' | 'beg' | 'end' | 'sub' | 'dir' | 'dom' | 'reg' | 'found';

const methods = ['str', 'beg', 'end', 'sub', 'dir', 'dom', 'reg', 'found'];
const none = (why: string, isLimit = false): NoTerm => ({ why, isLimit });
const limits = /^(sc\d?_|src_|be_|fe_|table_|nbsrv|queue|avg_queue|connslots|srv_|rand)/;

/** Returns the term of a fetch with its flags and patterns, such as `path_beg -i /api`. */
export function termOf(words: readonly string[]): Term | NoTerm {
  const [fetch = '', ...rest] = words;
  const values: string[] = [];
  let ignoresCase = false;
  let method: string | undefined;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (values.length > 0 || !word.startsWith('-')) values.push(word);
    else if (word === '-i') ignoresCase = true;
    else if (word === '-m') {
      at += 1;
      method = rest[at] === 'int' ? undefined : rest[at];
    } else if (word === '--') values.push(...rest.splice(at + 1));
    else return none(`the flag ${word} has no counterpart`);
  }
  const limit = limitOf(fetch, values);
  if (limit !== undefined) return { cel: 'false', limit };
  if (limits.test(fetch)) return none(`${fetch} has no counterpart`, true);
  const [, name = '', argument = '', converters = ''] = /^([a-z0-9_.]+)(?:\(([^)]*)\))?((?:,.*)?)$/.exec(fetch) ?? [];
  if (converters === ',lower' && values.every((each) => each === each.toLowerCase())) ignoresCase = true;
  else if (converters !== '') return none(`the converters ${converters.slice(1)} have no counterpart`);
  const bare = name.replace(/^(hdr|path|url_param|urlp)_(beg|end|sub|dir|dom|reg)$/, '$1');
  const wanted = method ?? (bare === name ? 'str' : name.slice(bare.length + 1));
  if (!methods.includes(wanted)) return none(`the comparison ${wanted} has no counterpart`);
  return compared(bare.replace(/^req\./, ''), argument, wanted as Method, ignoresCase, values);
}

const bodySizes =
  /^(req\.body_(size|len)|(req\.)?(f?hdr|hdr_val|hdr)\(content-length\)|req\.hdr_val\(content-length\))$/i;

const requestRates =
  /^(?:sc_http_req_rate\((\d+)(?:,([^)]+))?\)|sc(\d)_http_req_rate(?:\(([^)]*)\))?|(src)_http_req_rate(?:\(([^)]*)\))?)$/;

/** Comparison of the length of a body, such as `req.body_size gt 1000000`, or of a rate: `sc_http_req_rate(0) gt 20`. */
function limitOf(fetch: string, [operator, count = '']: readonly string[]): Term['limit'] {
  if (!/^\d+$/.test(count) || (operator !== 'gt' && operator !== 'ge')) return undefined;
  const most = Number(count) - (operator === 'ge' ? 1 : 0);
  if (bodySizes.test(fetch)) return { of: 'body', bytesMax: Math.max(1, most) };
  const [whole, first, firstTable, second, secondTable, source, sourceTable] = requestRates.exec(fetch) ?? [];
  if (whole === undefined) return undefined;
  const table = firstTable ?? (secondTable || sourceTable || undefined);
  return { of: 'rate', counter: first ?? second ?? source ?? '', table, requests: most };
}

function compared(
  fetch: string,
  argument: string,
  method: Method,
  i: boolean,
  values: readonly string[],
): Term | NoTerm {
  const [first = ''] = values;
  if (fetch === 'always_true') return { cel: 'true' };
  if (fetch === 'always_false') return { cel: 'false' };
  if (fetch === 'ssl_fc') return { cel: 'request.scheme == "https"', scheme: 'https' };
  if (fetch === 'http_auth' || fetch === 'http_auth_group')
    return fetch === 'http_auth' ? { cel: 'false', users: argument } : none('groups of users have no counterpart');
  if (values.length === 0 && method !== 'found') return none('it has no pattern');
  if (fetch === 'src') {
    if (!values.every(isCidr)) return none('a pattern is no address range');
    return { cel: clientIn(values), cidrs: values, sample: { clientIp: first.replace(/\/.*$/, '') } };
  }
  if (fetch === 'method') {
    if (method !== 'str') return none('methods are compared as a whole');
    return { cel: `request.method in [${values.map(celText).join(', ')}]`, methods: values };
  }
  if (fetch === 'ssl_sni' || fetch === 'req_ssl_sni')
    return method === 'str' ? { cel: 'false', sni: values } : none('server names are compared as a whole');
  if (fetch === 'path') return pathTerm(method, i, values);
  if (/^f?hdr$/.test(fetch) && argument.toLowerCase() === 'host') return hostTerm(method, values);
  if (/^f?hdr$/.test(fetch) && argument !== '') {
    const key = argument.toLowerCase().replace(/,-?1$/, '');
    return fieldTerm('request.headers', key, method, i, values, fetch === 'hdr', (text) => ({
      headers: { [key]: text },
    }));
  }
  if ((fetch === 'url_param' || fetch === 'urlp') && argument !== '')
    return fieldTerm('request.queryParams', argument, method, i, values, false, (text) => ({
      query: `?${encodeURIComponent(argument)}=${encodeURIComponent(text)}`,
    }));
  return none(`${fetch || 'the sample'} has no counterpart`);
}

/** Expression that finds what a method finds; `separators` end a list's member. */
function pattern(method: Method, value: string, i: boolean, isList: boolean): string {
  const [start, end] = isList ? ['(?:^|,)\\s*', '\\s*(?:,|$)'] : ['^', '$'];
  const quoted = quoteRegex(value);
  const text = {
    str: `${start}${quoted}${end}`,
    beg: `${start}${quoted}`,
    end: `${quoted}${end}`,
    sub: quoted,
    dir: `(?:^|/)${quoted}(?:/|$)`,
    dom: `(?:^|[./])${quoted}(?:[./:]|$)`,
    reg: value,
    found: '',
  }[method];
  return `${i ? '(?i)' : ''}${text}`;
}

function matching(subject: string, patterns: readonly string[]): string | NoTerm {
  const problem = patterns.map(regexProblem).find((each) => each !== undefined);
  return problem === undefined
    ? patterns.map((each) => `${subject}.matches(${celText(each)})`).join(' || ')
    : none(problem);
}

function pathTerm(method: Method, i: boolean, values: readonly string[]): Term | NoTerm {
  if (method === 'found') return { cel: 'true' };
  const cel = matching(
    'request.path',
    values.map((each) => pattern(method, each, i, false)),
  );
  if (typeof cel !== 'string') return cel;
  const [first = ''] = values;
  const text = { str: first, beg: first, end: `/x${first}`, sub: `/${first}`, dir: `/${first}`, dom: `/${first}` };
  const path = method === 'reg' ? samplePath(first) : text[method].replace(/^\/*/, '/');
  const sample = path === undefined ? {} : { sample: { path } };
  if (values.length > 1 || i) return { cel, ...sample };
  if (method === 'str') return { cel, path: { is: 'exact', text: first } };
  if (method === 'beg' && first.startsWith('/')) return { cel, path: { is: 'begins', text: first } };
  return { cel, ...sample };
}

/** Hosts are compared without port, in any case of letters. */
function hostTerm(method: Method, values: readonly string[]): Term | NoTerm {
  if (method === 'found') return { cel: 'request.host != ""' };
  const names = method === 'reg' ? values : values.map((each) => each.toLowerCase().replace(/:\d+$/, ''));
  const cel = matching(
    'request.host',
    names.map((each) => pattern(method, each, true, false)),
  );
  if (typeof cel !== 'string') return cel;
  if (method === 'str') return { cel, hosts: names };
  if (method === 'end' && names.every((each) => /^\.[a-z0-9-]/.test(each)))
    return { cel, hosts: names.map((each) => `*${each}`) };
  return { cel };
}

function fieldTerm(
  map: string,
  key: string,
  method: Method,
  i: boolean,
  values: readonly string[],
  isList: boolean,
  sampleOf: (text: string) => NonNullable<ImportedRoute['sample']>,
): Term | NoTerm {
  const isThere = `${celText(key)} in ${map}`;
  if (method === 'found') return { cel: isThere, sample: sampleOf('x') };
  const cel = matching(
    `${map}[${celText(key)}]`,
    values.map((each) => pattern(method, each, i, isList)),
  );
  if (typeof cel !== 'string') return cel;
  const [first = ''] = values;
  return { cel: `${isThere} && (${cel})`, sample: sampleOf(method === 'reg' ? (sampleText(first) ?? 'x') : first) };
}
