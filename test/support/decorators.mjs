// Lets mocha run the sources as they are. Node strips types by itself but rejects
// decorators, so only files that use them go through swc; the rest stays with Node.
import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

// A match inside a comment only costs a little time.
const decorated = /(?:^|[\s{(,;])@[A-Z]\w*\(/;
let swc;

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/'))
      return nextLoad(url, context);
    const filename = fileURLToPath(url);
    const source = readFileSync(filename, 'utf8');
    if (!decorated.test(source)) return nextLoad(url, context);
    swc ??= createRequire(import.meta.url)('@swc/core');
    const { code } = swc.transformSync(source, {
      filename,
      swcrc: false,
      configFile: false,
      sourceMaps: 'inline',
      module: { type: 'es6' },
      jsc: {
        target: 'es2024',
        keepClassNames: true,
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: true },
      },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
