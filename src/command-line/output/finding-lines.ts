// Findings as the server tells them: their lines for people, and the severity that counts as a failure.
import type { Finding } from '../../model/answers/finding-answers.ts';
import { type Severity, severities } from '../../model/severity.ts';
import { wrongUsage } from '../exit.ts';
import { printable } from './text-table.ts';

/** Line of a finding without its place. */
export const findingText = ({ severity, rule, message }: Pick<Finding, 'severity' | 'rule' | 'message'>): string =>
  `${severity} ${rule}: ${message}`;

export const findingLine = (finding: Finding): string => {
  const { kind, name, pointer } = finding;
  return printable(`${kind}/${name}${pointer === '' ? '' : ` ${pointer}`}  ${findingText(finding)}`, true);
};

export const failOnFlag = {
  kind: 'text',
  value: 'SEVERITY',
  brief: 'Refuse it for findings so grave, or graver: error, warning or info',
} as const;

/** Parses `--fail-on`. Throws wrong usage. */
export function severityGiven(text: string): Severity {
  const found = severities.find((each) => each === text);
  if (found === undefined) throw wrongUsage(`--fail-on takes ${severities.join(', ')}, not ${text}`);
  return found;
}

/** Returns whether one of the findings is so grave, or graver. */
export const isAnyGrave = (findings: readonly Pick<Finding, 'severity'>[], limit: Severity): boolean =>
  findings.some(({ severity }) => severities.indexOf(severity) <= severities.indexOf(limit));
