// Loaded before everything else (`node --import`): plants the bug that UNIT_MUTANT describes, as a site in JSON.
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Site } from './sites.ts';

const { file, at, found, planted }: Site = JSON.parse(process.env.UNIT_MUTANT ?? '');
const { href } = new URL(`../../${file}`, import.meta.url);

registerHooks({
  load(url, context, nextLoad) {
    if (url !== href) return nextLoad(url, context);
    const source = readFileSync(fileURLToPath(url), 'utf8');
    if (!source.startsWith(found, at)) throw new Error(`${file} has no ${found} at ${at}`);
    const mutated = source.slice(0, at) + planted + source.slice(at + found.length);
    return { format: 'module-typescript', source: mutated, shortCircuit: true };
  },
});
