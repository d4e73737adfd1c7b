// Adds to package-lock.json the per-platform packages that npm leaves out when it
// could not look them up, so that `npm ci` of npm 11 accepts the lock everywhere, each with its integrity: bytes that
// the lock does not name are installed nowhere. Run through `npm run lock` after every change of a dependency.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const systems = ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'aix', 'win32'];
const processors = ['arm64', 'arm', 'x64', 'ia32', 'ppc64', 'riscv64', 's390x', 'loong64'];

const file = process.argv[2] ?? 'package-lock.json';
const lock = JSON.parse(readFileSync(file, 'utf8'));

for (const [at, parent] of Object.entries(lock.packages)) {
  if (at === '') continue;
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const known = lock.packages[`${at}/node_modules/${name}`] ?? lock.packages[`node_modules/${name}`];
    const isExact = /^\d/.test(version);
    if (known || !isExact) continue;
    lock.packages[`node_modules/${name}`] = stub(name, version, parent.dev === true);
  }
}

for (const [at, entry] of Object.entries(lock.packages)) {
  if (at === '' || entry.integrity !== undefined || entry.link || entry.inBundle) continue;
  entry.integrity = integrityOf(`${at.split('node_modules/').at(-1)}@${entry.version}`);
}

const { '': root, ...rest } = lock.packages;
const sorted = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
lock.packages = { '': root, ...Object.fromEntries(sorted) };
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);

/** Returns what the registry says of a package. Throws when it says nothing. */
function integrityOf(name) {
  const said = execFileSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8' }).trim();
  if (!/^sha512-[\w+/]+=*$/.test(said)) throw new Error(`the registry tells no integrity of ${name}`);
  return said;
}

/** A lock entry that npm skips on other platforms and fetches by version on its own. */
function stub(name, version, isDev) {
  const words = name.split(/[/-]/);
  const isWasm = words.includes('wasm32');
  const os = systems.find((system) => words.includes(system));
  const cpu = isWasm ? 'wasm32' : processors.find((processor) => words.includes(processor));
  return {
    version,
    ...(isDev && { dev: true }),
    optional: true,
    ...(os && { os: [os] }),
    ...(cpu && { cpu: [cpu] }),
    ...(os === 'linux' && { libc: [name.includes('musl') ? 'musl' : 'glibc'] }),
  };
}
