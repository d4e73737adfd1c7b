import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { apiErrors, proxyErrors } from '../../../src/errors.ts';
import { destinationDefaults, listenerDefaults } from '../../../src/model/defaults.ts';
import { type Family, families } from '../../../src/proxy/metrics/families.ts';

const page = readFileSync(new URL('../../../docs/reference/contract.md', import.meta.url), 'utf8');

/** Rows of all tables below a heading, cells without their backticks. */
function rowsOf(section: string): string[][] {
  const [, body = ''] = page.split(new RegExp(`^#+ ${section.replaceAll('.', '\\.')}[. ].*$`, 'm'));
  const own = body.split(/^#/m)[0] ?? '';
  return own
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('|---'))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}

const at = (values: object, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values);

/** Defaults of the rows that name one and that the compiled form has one for: `[path, of the page, of the program]`. */
const defaultsOf = (section: string, column: number, values: object): [string, string, string][] =>
  rowsOf(section).flatMap(([path = '', ...cells]): [string, string, string][] => {
    const [said = ''] = (cells[column - 1] ?? '').split(' ');
    const value = at(values, path);
    return value === undefined || typeof value === 'object' ? [] : [[path, said, String(value)]];
  });

describe('docs/reference/contract.md', () => {
  it('has the statuses of the API', () => {
    const statuses = rowsOf('0.4').flatMap(([status = '']) => (/^\d+$/.test(status) ? [Number(status)] : []));
    expect(statuses).to.deep.equal([...new Set(Object.values(apiErrors))].sort((a, b) => a - b));
  });

  it('has the proxy errors with their statuses and messages', () => {
    const rows = rowsOf('9').filter(([type = '']) => /^[a-z_]+$/.test(type) && type in proxyErrors);
    const said = Object.fromEntries(rows.map(([type, status, message]) => [type, { status: Number(status), message }]));
    expect(said).to.deep.equal(proxyErrors);
  });

  it('has the families of metrics of HTTP in their order', () => {
    const said = rowsOf('10.2')
      .slice(1)
      .map(([, name, type]) => `${name} ${type}`);
    expect(said).to.deep.equal(families.slice(0, said.length).map(({ name, type }) => `${name} ${type}`));
    const rest = families.slice(said.length) as readonly Family[];
    expect(rest.every(({ protocol, isSparse }) => protocol === 'tcp' || isSparse === true)).to.equal(true);
  });

  it('has the defaults of listeners and of the timeouts of destinations', () => {
    const found = [
      ...defaultsOf('2.2', 3, listenerDefaults),
      ...defaultsOf('2.3.2', 1, destinationDefaults.timeouts),
      ...defaultsOf('2.3.4', 2, destinationDefaults.circuitBreaker),
      ...defaultsOf('2.3.5', 3, destinationDefaults.healthCheck),
      ...defaultsOf('2.3.6', 2, destinationDefaults.outlierDetection),
    ];
    expect(found.length).to.be.greaterThan(30);
    for (const [path, said, value] of found) expect(said, path).to.equal(value);
  });
});
