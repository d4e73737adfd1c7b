// Libraries of an image: files of Debian's packages, fetched by apt with a state of its own, so nothing of the system changes.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const suite = 'bookworm';
const packages = ['ca-certificates', 'gcc-12-base', 'libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6'];
/** Packages that are the same for every architecture. */
const ofAll = new Set(['ca-certificates']);

/** Paths of the loader and of the directory of libraries, by Debian's name of the architecture. */
const places = {
  amd64: { loader: 'lib64/ld-linux-x86-64.so.2', triplet: 'x86_64-linux-gnu' },
  arm64: { loader: 'lib/ld-linux-aarch64.so.1', triplet: 'aarch64-linux-gnu' },
};

/** Libraries that Node is linked with, and those by which libc resolves names. */
const libraries = [
  ...[
    'libatomic.so.1',
    'libc.so.6',
    'libdl.so.2',
    'libgcc_s.so.1',
    'libm.so.6',
    'libnss_dns.so.2',
    'libnss_files.so.2',
  ],
  ...['libpthread.so.0', 'libresolv.so.2', 'librt.so.1', 'libstdc++.so.6'],
];

/** Bundle of certificates: where OpenSSL looks, though Node has its own. */
const bundle = 'etc/ssl/certs/ca-certificates.crt';

/**
 * Fetches the packages of the architectures.
 *
 * @returns by architecture: `entries` of an archive, and `packages` as `{name, version, architecture, sha256}`
 * @throws when apt is not there or does not reach its server
 */
export function librariesOf(architectures, root) {
  const state = join(root, 'node_modules/.cache/debian', suite);
  const apt = aptOf(state, Object.keys(places));
  apt(['update']);
  return Object.fromEntries(architectures.map((architecture) => [architecture, fetched(apt, architecture, state)]));
}

function fetched(apt, architecture, state) {
  const archives = join(state, architecture);
  rmSync(archives, { recursive: true, force: true });
  mkdirSync(archives, { recursive: true });
  apt(['download', ...packages.map((name) => (ofAll.has(name) ? name : `${name}:${architecture}`))], archives);
  const files = readdirSync(archives).sort();
  const folder = join(archives, 'files');
  for (const file of files) run('dpkg-deb', ['-x', join(archives, file), folder]);
  return {
    entries: entriesOf(folder, places[architecture]),
    packages: files.map((file) => packageOf(archives, file)),
  };
}

function packageOf(archives, file) {
  const [name, version, architecture] = file.replace(/\.deb$/, '').split('_');
  const sha256 = createHash('sha256')
    .update(readFileSync(join(archives, file)))
    .digest('hex');
  return { name, version: decodeURIComponent(version), architecture, sha256 };
}

function entriesOf(folder, { loader, triplet }) {
  const file = (path, bytes, mode = 0o644) => ({ path, mode, bytes });
  const directories = [`lib/${triplet}`, `usr/lib/${triplet}`];
  const linked = libraries.map((name) => {
    const path = directories.map((directory) => `${directory}/${name}`).find((each) => existsSync(join(folder, each)));
    if (path === undefined) throw new Error(`no package has ${name}`);
    return file(path, readFileSync(join(folder, path)));
  });
  // Links of Debian's loader are absolute: the file they lead to is in the directory of libraries.
  const loaderBytes = readFileSync(join(folder, `lib/${triplet}`, loader.split('/').at(-1)));
  const certificates = readdirSync(join(folder, 'usr/share/ca-certificates/mozilla'))
    .sort()
    .map((name) => readFileSync(join(folder, 'usr/share/ca-certificates/mozilla', name)));
  const copyrights = packages
    .map((name) => `usr/share/doc/${name}/copyright`)
    .map((path) => file(path, readFileSync(join(folder, path))));
  return [file(loader, loaderBytes, 0o755), ...linked, file(bundle, Buffer.concat(certificates)), ...copyrights].sort(
    (a, b) => (a.path < b.path ? -1 : 1),
  );
}

/** Returns a call of apt-get whose lists, archives and sources are its own. */
function aptOf(state, architectures) {
  const folder = (name) => join(state, name);
  for (const name of ['lists/partial', 'archives/partial']) mkdirSync(folder(name), { recursive: true });
  writeFileSync(folder('status'), '');
  const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
  const source = (url, name) => `deb [signed-by=${keyring}] ${url} ${name} main\n`;
  writeFileSync(
    folder('sources.list'),
    source('http://deb.debian.org/debian', suite) +
      source('http://deb.debian.org/debian-security', `${suite}-security`),
  );
  const settings = {
    'Dir::State::lists': folder('lists'),
    'Dir::State::status': folder('status'),
    'Dir::Cache::archives': folder('archives'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'Dir::Etc::sourcelist': folder('sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
    'APT::Architecture': architectures[0],
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} "${value}";\n`);
  // Hooks of the system have nothing to do with these lists.
  const cleared = ['APT::Update', 'DPkg::Post-Invoke', 'APT::Architectures'].map((name) => `#clear ${name};\n`);
  const known = `APT::Architectures { ${architectures.map((name) => `"${name}";`).join(' ')} };\n`;
  writeFileSync(folder('apt.conf'), [...cleared, ...lines, known].join(''));
  return (args, cwd = state) => run('apt-get', ['-qq', '-c', folder('apt.conf'), ...args], cwd);
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
