// Summary of a run of schemathesis for test results: one line, and the findings out of pages of progress.

/** Used fields of its JSON report. */
export interface Report {
  readonly running_time: number;
  readonly test_cases: { readonly generated: number; readonly unique_failures: number; readonly errored: number };
}

interface Ended {
  readonly place: string;
  readonly seed: string;
  /** Exit code of the process. */
  readonly code: number | null;
  readonly report: Report | undefined;
  /** File of its output. */
  readonly outputFile: string;
}

export function summaryOf({ place, seed, code, report, outputFile }: Ended): string {
  if (report === undefined) return `${place}, seed ${seed}: ended with ${code} before it could report: ${outputFile}`;
  const { generated, unique_failures: findings, errored } = report.test_cases;
  const found = code === 0 ? 'no finding' : `${findings} findings, ${errored} errors: ${outputFile}`;
  return `${place}, seed ${seed}: ${generated} cases in ${Math.round(report.running_time)} s, ${found}`;
}

const linesMax = 200;
const lineMax = 600;
const heading = /^=+ (.+?) =+$/;
const telling = new Set(['ERRORS', 'FAILURES']);

/** The lines of the sections that tell what was found, cut; the last lines of all when it came to none. */
export function findingsIn(output: string): string[] {
  const lines = output.trimEnd().split('\n');
  let isTelling = false;
  const found = lines.filter((line) => {
    const title = heading.exec(line)?.[1];
    if (title !== undefined) isTelling = telling.has(title);
    return isTelling;
  });
  const shown = found.length > 0 ? found.slice(0, linesMax) : lines.slice(-10);
  return shown.map((line) => (line.length > lineMax ? `${line.slice(0, lineMax)} …` : line));
}
