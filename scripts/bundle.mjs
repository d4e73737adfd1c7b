// Second half of the build: the modules that the compiler wrote, and the packages that they import, become a few chunks.
// Finding, reading and linking hundreds of files was half of a start (docs/decisions/chunks.md).
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { build } from 'esbuild';

/** Entry points, started by name: the program and its threads. Their paths stay. */
const entries = ['src/main', 'src/controller/main', 'src/proxy/worker/begin', 'raft/member/worker'];

/** Packages that stay where they are: native code, files that are served, and what people alone see. */
const apart = ['classic-level', 'pino-pretty', 'swagger-ui-dist'];

/** Optional packages of the frameworks, loaded only where they are installed. */
export const absent = [
  '@fastify/multipart',
  '@fastify/static',
  '@fastify/view',
  '@nestjs/microservices',
  '@nestjs/platform-express',
  '@nestjs/websockets',
];

/** Stands for the way from a chunk up to the folder of all; known when the chunk has its place. */
const up = '@@up@@';

/** CommonJS within a chunk finds built-in modules and packages that stay apart. */
const banner = `import { createRequire as requireFrom } from 'node:module';const require = requireFrom(import.meta.url);`;

/** Chunks in `to` of the modules in `from`, and `chunks.json`, which says what each consists of. */
export async function bundle(from, to) {
  const folder = realpathSync(from);
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: Object.fromEntries(entries.map((entry) => [entry, `${entry}.js`])),
    chunkNames: 'chunks/[name]-[hash]',
    outdir: to,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node.split('.')[0]}`,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'external',
    // V8 keeps the text of what it has loaded. Names stay, and lines that can be told in a stack.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    external: [...apart, ...absent.flatMap((name) => [name, `${name}/*`])],
    banner: { js: banner },
    plugins: [builtins(), modules(folder), late()],
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(up, slashed(relative(dirname(path), to)) || '.'));
  }
  const chunks = Object.entries(metafile.outputs).filter(([path]) => path.endsWith('.js'));
  const contents = chunks.map(([path, { inputs }]) => [
    slashed(relative(to, resolve(folder, path))),
    Object.keys(inputs).map((input) => input.slice(Math.max(0, input.indexOf('node_modules/')))),
  ]);
  writeFileSync(join(to, 'chunks.json'), JSON.stringify(Object.fromEntries(contents), undefined, 1));
}

/** Replaces the address of a module by the place that it had before it became part of a chunk. */
const placeFrom = (folder) => (text, path) =>
  text.replaceAll('import.meta.url', `new URL('${up}/${slashed(relative(folder, path))}', import.meta.url).href`);

const slashed = (path) => path.split(sep).join('/');

/**
 * An `import` of a built-in module reads everything that the module exports, and some of that is loaded when it is read:
 * with `node:http` all of the undici within Node, twenty megabytes in each thread. Got by name it is what is used.
 */
export function builtins() {
  const names = new Set(builtinModules.map((name) => name.replace(/^node:/, '')));
  return {
    name: 'builtins',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^[a-z0-9:_/]+$/ }, ({ path, kind }) => {
        const name = path.replace(/^node:/, '');
        const isStatic = kind === 'import-statement' && names.has(name);
        return isStatic ? { path: name, namespace: 'builtin', sideEffects: false } : undefined;
      });
      onLoad({ filter: /^/, namespace: 'builtin' }, ({ path }) => {
        const exported = Object.keys(process.getBuiltinModule(`node:${path}`)).filter((name) => name !== 'default');
        const lines = exported.map((name) => `export const ${name} = /* @__PURE__ */ (() => all.${name})();`);
        const contents = `const all = process.getBuiltinModule('node:${path}');\nexport default all;\n${lines.join('\n')}`;
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * Plugin for own modules. A module that looks for a file beside itself gets the path of its source. A class of a
 * module with decorators keeps its name, which is that of a schema in the document of the API.
 */
export function modules(folder, place = placeFrom(folder)) {
  const decorated = /^((?:let (\w+) = (?:\w+ = )?class \2|(?:export )?class (\w+))(?: extends \w+)? \{)/gm;
  const named = `$1 static { Object.defineProperty(this, 'name', { value: '$2$3', configurable: true }); }`;

  return {
    name: 'modules',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/](src|raft|program)[\\/].*\.js$/ }, ({ path }) => {
        if (!path.startsWith(folder)) return undefined;
        const text = place(readFileSync(path, 'utf8'), path);
        // Classes without decorators are named in stacks alone.
        const contents = text.includes('__decorate(') ? text.replace(decorated, named) : text;
        return { contents, loader: 'js' };
      });
    },
  };
}

/**
 * Evaluates undici's HTTP/2 client at its first call: it pulls in Node's own HTTP/2, and the program never speaks HTTP/2
 * through undici. Within a chunk a required module is evaluated by its `require`, not before.
 */
export function late() {
  const real = '?real';
  return {
    name: 'late',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\?real$/ }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path.slice(0, -real.length)),
        suffix: real,
      }));
      onLoad({ filter: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h2\.js$/ }, ({ suffix }) =>
        suffix === real
          ? undefined
          : { contents: `module.exports = (...given) => require('./client-h2.js${real}')(...given);`, loader: 'js' },
      );
    },
  };
}
