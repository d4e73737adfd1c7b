// Scripts of the executable: one CommonJS script for each thread, one for the client, and two small ones: boot.cjs comes
// first and checks front.cjs, which loads server and client only where they are needed. They are the modules that the
// compiler wrote, with program/executable.ts in place of program/disk.ts.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { absent, builtins, late, modules } from '../bundle.mjs';

const here = dirname(fileURLToPath(import.meta.url));

/** First module of each script. Those of the packager find the program's as `program:src/…`. */
const programEntries = {
  boot: 'program/boot.js',
  front: 'src/main.js',
  client: join(here, 'client.mjs'),
  server: join(here, 'server.mjs'),
  controller: 'src/controller/controller-command.js',
  proxy: 'src/proxy/worker/begin.js',
  raft: 'raft/member/worker.js',
  thread: 'program/thread-start.js',
};

/** Bytes of scripts that each command reads: nothing of the server may be part of them. */
const bytesMax = { front: 100_000, client: 600_000 };

/**
 * Returns the text of each script and what it consists of.
 *
 * @param folder modules as the compiler wrote them
 */
export async function bundleScripts(folder, entries = programEntries) {
  const scripts = {};
  const inputs = new Set();
  for (const [name, entry] of Object.entries(entries)) {
    const { outputFiles, metafile } = await build({
      absWorkingDir: folder,
      entryPoints: [entry],
      outfile: `${name}.cjs`,
      write: false,
      metafile: true,
      bundle: true,
      format: name === 'thread' ? 'iife' : 'cjs',
      globalName: 'thread',
      platform: 'node',
      target: `node${process.versions.node.split('.')[0]}`,
      // Nothing is loaded from outside: what is imported late is part of the script and evaluated late.
      supported: { 'dynamic-import': false },
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 200,
      legalComments: 'none',
      plugins: [ownRequire(), builtins(), contents(folder), modules(folder, (text) => text), late(), missing()],
      // A module of the executable has no address.
      define: { 'import.meta.url': '"file:///sluice"' },
      logLevel: 'error',
    });
    const [{ text }] = outputFiles;
    if (text.length > (bytesMax[name] ?? Number.POSITIVE_INFINITY))
      throw new Error(`${name}.cjs has ${text.length} bytes: something of the server is part of it`);
    if (text.includes('import.meta')) throw new Error(`${name}.cjs asks for the address of a module`);
    scripts[`${name}.cjs`] = standAlone.has(name) ? text : asFunction(text);
    for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  }
  return { scripts, inputs: [...inputs].sort() };
}

/** Scripts that Node runs by itself; the others are functions that program/assets.ts calls. */
const standAlone = new Set(['boot', 'thread', 'recorder', 'acceptance']);

const asFunction = (text) => `(function(module,exports,require){${text}\n})`;

/** Puts what the executable carries in place of what a folder has. */
function contents(folder) {
  const at = (name) => join(folder, 'program', name);
  return {
    name: 'contents',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^program:/ }, ({ path }) => ({ path: join(folder, path.slice('program:'.length)) }));
      onResolve({ filter: /\/program\/disk\.js$/ }, () => ({ path: at('executable.js') }));
      onResolve({ filter: /\/program\/disk-packages\.js$/ }, () => ({ path: at('executable-packages.js') }));
      onResolve({ filter: /^\.\/program\.js$/ }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: 'server', namespace: 'script' },
      );
      onResolve({ filter: /^\.\/controller\/controller-command\.js$/ }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: 'controller', namespace: 'script' },
      );
      onResolve({ filter: /^\.\/command-line\/client\.js$/ }, () => ({ path: 'client', namespace: 'script' }));
      // The model and what goes with it are part of the server's script.
      onResolve({ filter: /^\.\.\/checks\.js$/ }, () => ({ path: 'server', namespace: 'script' }));
      onLoad({ filter: /^/, namespace: 'script' }, ({ path }) => ({
        contents: `module.exports = require(${JSON.stringify(at('assets.js'))}).runScript(${JSON.stringify(path)});`,
        resolveDir: folder,
      }));
      onLoad({ filter: /[\\/]classic-level[\\/]binding\.js$/ }, () => ({
        contents: `module.exports = require(${JSON.stringify(at('addon.js'))}).loadAddon();`,
        resolveDir: folder,
      }));
    },
  };
}

/** Replaces `createRequire` in packages by the `require` of their script, which finds modules of Node alone. */
function ownRequire() {
  return {
    name: 'own-require',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(node:)?module$/ }, ({ kind }) =>
        kind === 'import-statement' ? { path: 'module', namespace: 'own-require', sideEffects: false } : undefined,
      );
      onLoad({ filter: /^/, namespace: 'own-require' }, () => ({
        contents: `const own = require;
export const createRequire = () => own;
export const { flushCompileCache } = process.getBuiltinModule('node:module');
export default { createRequire, flushCompileCache };`,
      }));
    },
  };
}

/** Packages that the frameworks offer to load are not there, and are not looked for on the system's disk. */
function missing() {
  const names = new Set(absent);
  return {
    name: 'missing',
    setup({ onResolve }) {
      onResolve({ filter: /^@/ }, ({ path }) => {
        const name = path.split('/').slice(0, 2).join('/');
        return names.has(name) ? { path, external: true } : undefined;
      });
    },
  };
}

/** Returns the files of the explorer: the name of each asset and its bytes. */
export function explorerFiles(root, names) {
  return Object.fromEntries(
    names.map((name) => [`explorer/${name}`, readFileSync(join(root, 'node_modules/swagger-ui-dist', name))]),
  );
}
