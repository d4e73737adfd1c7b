// Reports for other programs: SARIF 2.1.0 of faults, JUnit of cases.
import type { Severity } from '../../model/severity.ts';
import type { Fault } from '../input/fault.ts';

interface Case {
  readonly name: string;
  readonly place: { readonly file: string; readonly line: number };
  readonly differences: readonly string[];
}

interface Result extends Fault {
  readonly ruleId: string;
  readonly level: 'error' | 'warning' | 'note';
}

export const sarifOf = (faults: readonly Fault[], warnings: readonly Fault[], version: string): object =>
  sarif(
    [
      { id: 'fault', shortDescription: { text: 'The input is refused.' } },
      { id: 'warning', shortDescription: { text: 'The input is taken, and doubtful.' } },
    ],
    [
      ...faults.map((fault): Result => ({ ...fault, ruleId: 'fault', level: 'error' })),
      ...warnings.map((fault): Result => ({ ...fault, ruleId: 'warning', level: 'warning' })),
    ],
    version,
  );

export const sarifOfFindings = (
  findings: readonly (Fault & { readonly rule: string; readonly severity: Severity })[],
  version: string,
): object =>
  sarif(
    [...new Set(findings.map(({ rule }) => rule))].map((id) => ({ id })),
    findings.map(
      (each): Result => ({ ...each, ruleId: each.rule, level: each.severity === 'info' ? 'note' : each.severity }),
    ),
    version,
  );

const sarif = (rules: readonly object[], results: readonly Result[], version: string): object => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'sluice', version, rules } },
      columnKind: 'utf16CodeUnits',
      results: results.map(({ ruleId, level, subject, pointer, message, place }) => ({
        ruleId,
        level,
        message: { text: [subject, pointer, message].filter((part) => part !== '').join(' ') },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: uriOf(place.file) },
              region: { startLine: place.line, startColumn: place.column },
            },
          },
        ],
      })),
    },
  ],
});

/** Relative reference of a file (RFC 3986 §4.2); a colon in its first segment would end a scheme. */
const uriOf = (file: string): string =>
  encodeURI(file)
    .replace(/[?#]/g, encodeURIComponent)
    .replace(/^[^/]*/, (first) => first.replaceAll(':', '%3A'));

export function junitOf(cases: readonly Case[]): string {
  const failures = cases.filter(({ differences }) => differences.length > 0).length;
  const elements = cases.map(({ name, place, differences }) => {
    const head = `<testcase classname="${xml(place.file)}" name="${xml(name)}" file="${xml(place.file)}" line="${place.line}"`;
    const text = xml(differences.join('\n'));
    return differences.length === 0
      ? `    ${head}/>`
      : `    ${head}><failure message="${xml(differences[0] ?? '')}">${text}</failure></testcase>`;
  });
  const counts = `tests="${cases.length}" failures="${failures}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="sluice test" ${counts}>
${elements.join('\n')}
  </testsuite>
</testsuites>
`;
}

/** Characters that XML 1.0 does not have are left out. */
const xml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is left out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;');
