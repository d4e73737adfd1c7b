import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { apiErrors, proxyErrors } from '../../../src/errors.ts';

const page = readFileSync('docs/troubleshooting.md', 'utf8');
const section = (title: string): string => page.split(/^## /m).find((part) => part.startsWith(title)) ?? '';
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| (.+?) \|/gm)]
    .map(([, cell = '']) => cell)
    .filter((cell) => !/^(Line|Type|Status)$/.test(cell));

describe('docs/troubleshooting.md', () => {
  it('has every type of error that the proxy answers with, and its status', () => {
    const rows = [...section('Answers of the proxy').matchAll(/^\| `(\w+)` \| (\d+) \|/gm)];
    const types = Object.fromEntries(rows.map(([, type, status]) => [type, Number(status)]));
    expect(types).to.deep.equal(
      Object.fromEntries(Object.entries(proxyErrors).map(([type, { status }]) => [type, status])),
    );
  });

  it('has every status of the API that is an error', () => {
    const told = firstCells(section('Answers of the API')).flatMap((cell) => cell.split(', ').map(Number));
    expect(told.sort()).to.deep.equal([...new Set(Object.values(apiErrors))].sort());
  });

  it('quotes lines that the program has', () => {
    const source = globSync('{src,raft,disk}/**/*.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const lines = [...firstCells(section('The log')), ...firstCells(section('The program does not start'))]
      .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, line = '']) => line))
      .filter((line) => !line.startsWith('controlPlane.raft'));
    expect(lines).to.have.length.of.at.least(30);
    for (const line of lines) {
      // `…` stands for what differs from case to case.
      for (const part of line.split(/…:?/).map((text) => text.trim())) expect(source, line).to.include(part);
    }
  });
});
