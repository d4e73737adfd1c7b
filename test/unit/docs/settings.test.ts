import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { settingsPages, withTables } from '../../../scripts/settings-pages.ts';
import { controllerKeys, parseControllerSettings } from '../../../src/controller/controller-settings.ts';
import type { Keys } from '../../../src/settings/key.ts';
import { parseSettings, settingsKeys } from '../../../src/settings/settings.ts';

describe('tables of settings', () => {
  for (const [name, tables] of Object.entries(settingsPages)) {
    it(`in docs/${name} are those of the declared keys (otherwise: npm run settings)`, () => {
      const page = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
      expect(page).to.equal(withTables(page, tables()));
    });
  }
});

/** Paths of all keys that hold a value, as YAML maps of one path each, with a list where a list of sections is. */
const filesOf = (keys: Keys, wrap: (inner: string) => string): string[] =>
  Object.entries(keys).flatMap(([name, { below }]) => {
    const within = (inner: string): string => wrap(`{ ${name}: ${below?.isList ? `[${inner}]` : inner} }`);
    return below === undefined ? [within('[[wrong]]')] : filesOf(below.keys, within);
  });

/** Returns the problem of the file; empty when it can be used. */
function problemOf(read: (file: string) => unknown, file: string): string {
  try {
    read(file);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('declared keys of the settings', () => {
  const files = Object.entries(settingsKeys).flatMap(([name, keys]) =>
    filesOf(keys, (inner) => (name === '' ? inner : `{ ${name}: ${inner} }`)),
  );
  const readers = [
    ...files.map((file) => [file, (text: string) => parseSettings(text, {})] as const),
    ...filesOf(controllerKeys, (inner) => inner).map(
      (file) => [file, (text: string) => parseControllerSettings(text, {})] as const,
    ),
  ];
  for (const [file, read] of readers) {
    it(`refuse a value of another type by the path of the key: ${file}`, () => {
      const path = file.slice(2, file.indexOf(': [[wrong]]')).replaceAll(': [{ ', '[0].').replaceAll(': { ', '.');
      expect(problemOf(read, file)).to.contain(path);
    });
  }
});
