// Reports for other programs: SARIF 2.1.0 of faults, JUnit of cases.
import type { Fault } from '../input/fault.ts';

interface Case {
  readonly name: string;
  readonly place: { readonly file: string; readonly line: number };
  readonly differences: readonly string[];
}

export function sarifOf(faults: readonly Fault[], warnings: readonly Fault[], version: string): object {
  const result = (level: 'error' | 'warning') => (fault: Fault) => ({
    ruleId: level === 'error' ? 'fault' : 'warning',
    level,
    message: { text: [fault.subject, fault.pointer, fault.message].filter((part) => part !== '').join(' ') },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: fault.place.file },
          region: { startLine: fault.place.line, startColumn: fault.place.column },
        },
      },
    ],
  });
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'sluice',
            version,
            rules: [
              { id: 'fault', shortDescription: { text: 'The input is refused.' } },
              { id: 'warning', shortDescription: { text: 'The input is taken, and doubtful.' } },
            ],
          },
        },
        columnKind: 'utf16CodeUnits',
        results: [...faults.map(result('error')), ...warnings.map(result('warning'))],
      },
    ],
  };
}

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
