// Patterns for the OpenAPI document, for texts whose check is a function: what a pattern admits, the check admits too. The
// check may admit more (a name of hundreds of labels, a duration of seven terms), so clients lose nothing by the pattern.
// Without groups that look around, which not every client understands.

const label = '[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
/** No name ends in a label of digits: resolvers would read an address. */
const lastLabel = '[A-Za-z_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?';
const dnsName = `(${label}\\.){0,8}${lastLabel}\\.?`;

const byte = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = `${byte}(\\.${byte}){3}`;

const hex = '[0-9A-Fa-f]{1,4}';
/** At most seven groups beside the two colons that stand for the rest. */
const shortened = [1, 2, 3, 4, 5, 6].map((before) => `(${hex}:){1,${before}}(:${hex}){1,${7 - before}}`);
const ipv6 = `((${hex}:){7}${hex}|(${hex}:){1,7}:|:(:${hex}){1,7}|::|${shortened.join('|')})`;

const port = '(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})';

/** Maximum number of digits of each unit, such that six terms stay below 292 years. */
const digits = { ns: 18, us: 15, '[µμ]s': 15, ms: 12, s: 9, m: 7, h: 5 };
const terms = Object.entries(digits).map(([unit, most]) => `([0-9]{1,${most}}(\\.[0-9]{1,9})?|\\.[0-9]{1,9})${unit}`);

const whole = (...alternatives: readonly string[]): string => `^(${alternatives.join('|')})$`;

export const addressPattern = whole(ipv4, ipv6);
export const durationPattern = whole('0', `(${terms.join('|')}){1,6}`);
export const hostPattern = whole(dnsName, ipv4, ipv6, `\\[${ipv6}\\]`);
export const authorityPattern = whole(`(${dnsName}|${ipv4}|\\[${ipv6}\\])(:${port})?`, ipv6);
/** As above with the port, which is then needed: where a node is reached. */
export const placePattern = whole(`(${dnsName}|${ipv4}|\\[${ipv6}\\]):${port}`);
export const hostMatcherPattern = whole('\\*', `(\\*\\.)?${dnsName}`, ipv4, ipv6, `\\[${ipv6}\\]`);
export const serverNamePattern = whole(`(\\*{1,2}\\.)?${dnsName}`);
export const uriPattern = '^[A-Za-z][0-9A-Za-z+.-]*:[!-~]+$';
export const cidrPattern = whole(`${ipv4}(/(3[0-2]|[12]?[0-9]))?`, `${ipv6}(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?`);

/** An escape in a path, of anything but NUL. */
const escaped = '%(0[1-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f])';
/** Whole characters beyond ASCII that one unit of UTF-16 holds. */
const beyond = '\\u0080-\\ud7ff\\ue000-\\uffff';

export const absolutePathPattern = `^/([!"$&->@-~${beyond}]|${escaped})*$`;
export const targetPattern = `^/([!"$&-~${beyond}]|${escaped})*$`;
export const pathLiteralPattern = `^([\\t -"$&->@-~${beyond}]|${escaped})+$`;
export const pathAndQueryPattern = `^([\\t -"$&-~${beyond}]|${escaped})+$`;
/** Rest of a location, from the path on. */
const pathOnwards = `[ -~${beyond}]*`;
/** Character of a segment without a colon. */
const segmentBegin = `[ -"$-.0-9;->@-~${beyond}]`;
/** A host beyond ASCII is for the check. A second slash always begins a host. */
export const locationPattern = whole(
  `([A-Za-z][0-9A-Za-z+.-]*:)?//[0-9A-Za-z._~:@-]*([/?#]${pathOnwards})?`,
  `/([ -.0-~${beyond}]${pathOnwards})?`,
  `[?#]${pathOnwards}`,
  // A path that begins with a segment (RFC 3986 §4.2), and a scheme without an authority.
  `${segmentBegin}+([/?#]${pathOnwards})?`,
  `${segmentBegin}*:(/?[ -.0-~${beyond}]${pathOnwards}|/)?`,
);

/** A text that is judged once its secret references are resolved is not held to the pattern either (J12). */
export const orSecret = (pattern: string): string => `${pattern}|\\{\\{secret:`;

/** Proxies that are waited for: `all`, a count, a share of at most 100 %. */
export const wantPattern = '^(all|[0-9]{1,9}|([0-9]{1,2}(\\.[0-9]{1,3})?|100)%)$';

/** Time that proxies are waited for. Every match is taken; so are other ways to write such a duration. */
export const waitTimeoutPattern = '^([1-9][0-9]{0,3}ms|[1-5][0-9]{4}ms|([1-9]|[1-5][0-9]|60)s|1m)$';

/** `*`, or entity tags; weak ones match nothing. */
export const ifMatchPattern = '^(\\*|(W/)?"[!#-~]*"(, ?(W/)?"[!#-~]*")*)$';
