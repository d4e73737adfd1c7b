// Nest's CLI on a copy of the sources: its build beside `npm run build`, and where it generates.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { newFolder } from '../support/sluice-process.ts';

const root = join(import.meta.dirname, '../..');
const inputs = [
  'src',
  'raft',
  'disk',
  'program',
  'ui',
  'scripts',
  'nest-cli.json',
  'package.json',
  'package-lock.json',
];
const options = ['tsconfig.json', 'tsconfig.build.json'];
const run = promisify(execFile);

describe('the CLI of Nest', () => {
  let copy: string;

  /** Runs the CLI in the copy. Rejects with its output unless it exits with 0. */
  const nest = (...args: string[]): Promise<unknown> =>
    run(process.execPath, [join(root, 'node_modules/@nestjs/cli/bin/nest.js'), ...args], { cwd: copy });

  /** Digests of the files of dist/ by path. */
  const built = (): Record<string, string> => {
    const dist = join(copy, 'dist');
    const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const digests = files.map((entry): [string, string] => {
      const file = join(entry.parentPath, entry.name);
      return [relative(dist, file), createHash('sha256').update(readFileSync(file)).digest('hex')];
    });
    return Object.fromEntries(digests.sort(([a], [b]) => (a < b ? -1 : 1)));
  };

  before(() => {
    copy = newFolder();
    for (const name of [...inputs, ...options]) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  });

  it('builds file by file what npm run build does', async () => {
    await run(process.execPath, ['scripts/build.mjs'], { cwd: copy });
    const own = built();
    expect(Object.keys(own)).to.include.members(['.fingerprint', 'chunks.json', 'package.json', 'src/main.js']);
    await nest('build');
    expect(built()).to.deep.equal(own);
    expect(readdirSync(copy).filter((name) => name.startsWith('dist'))).to.deep.equal(['dist']);
  });

  it('generates below src, and names a controller in the module beside it', async () => {
    await nest('generate', 'controller', 'api/orders');
    expect(readFileSync(join(copy, 'src/api/orders.controller.ts'), 'utf8')).to.include('class OrdersController');
    expect(readFileSync(join(copy, 'src/api/app.module.ts'), 'utf8')).to.include('OrdersController');
    expect(existsSync(join(copy, 'src/api/orders.controller.spec.ts'))).to.equal(false);
  });

  it('leaves the build as it is when the compiler refuses, and exits with 1', async () => {
    const before = built();
    writeFileSync(join(copy, 'src/refused.ts'), "export const wrong: number = 'a text';\n");
    const refused = await nest('build').then(
      () => undefined,
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    expect(refused?.code).to.equal(1);
    expect(`${refused?.stdout}${refused?.stderr}`).to.include('src/refused.ts');
    expect(built()).to.deep.equal(before);
  });
});
