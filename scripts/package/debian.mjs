// Package of Debian: the executable, its settings as a configuration file, and a hardened unit of systemd (deb(5)).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzip, tar, withFolders } from './archive.mjs';

const settings = '/etc/sluice/config.yaml';

/** Returns the bytes of a `.deb`. `documents` are further files by path: man page, licences, completions. */
export function debianPackage({ root, executable, documents, version, architecture, date }) {
  const unit = readFileSync(join(root, 'deploy/systemd/sluice.service'));
  const files = [
    { path: './usr/bin/sluice', mode: 0o755, bytes: executable },
    { path: './usr/bin/sluice-controller', mode: 0o777, target: 'sluice' },
    { path: `.${settings}`, mode: 0o644, bytes: readFileSync(join(root, 'deploy/systemd/config.yaml')) },
    { path: './usr/lib/systemd/system/sluice.service', mode: 0o644, bytes: unit },
    ...documents.map(({ path, bytes }) => ({ path: `./usr/share/${path}`, mode: 0o644, bytes })),
  ];
  const sums = files
    .filter(({ bytes }) => bytes !== undefined)
    .map(({ path, bytes }) => `${createHash('md5').update(bytes).digest('hex')}  ${path.slice(2)}\n`);
  const control = [
    { path: './control', mode: 0o644, bytes: Buffer.from(controlOf({ version, architecture, files })) },
    { path: './conffiles', mode: 0o644, bytes: Buffer.from(`${settings}\n`) },
    { path: './md5sums', mode: 0o644, bytes: Buffer.from(sums.join('')) },
    { path: './postinst', mode: 0o755, bytes: Buffer.from(afterInstall) },
    { path: './prerm', mode: 0o755, bytes: Buffer.from(beforeRemoval) },
    { path: './postrm', mode: 0o755, bytes: Buffer.from(afterRemoval) },
  ];
  return ar(
    {
      'debian-binary': Buffer.from('2.0\n'),
      'control.tar.gz': gzip(tar(control, date)),
      'data.tar.gz': gzip(tar(withFolders(files), date)),
    },
    date,
  );
}

const controlOf = ({ version, architecture, files }) => `Package: sluice
Version: ${version}
Architecture: ${architecture}
Maintainer: Sluice maintainers <maintainers@sluice.invalid>
Installed-Size: ${Math.ceil(files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0) / 1024)}
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), libgcc-s1, libatomic1
Section: net
Priority: optional
Description: programmable HTTP reverse proxy with its control plane inside
 Routes are changed over a REST API, tried on some of the clients, and undone in
 one call, without a restart, a reload or a dropped connection.
`;

/** Starts nothing by itself: an operator does. `DPKG_ROOT` is set where dpkg installs into a folder (dpkg(1)). */
const afterInstall = `#!/bin/sh
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then systemctl daemon-reload; fi
if [ "$1" = configure ] && [ -n "$2" ] && [ -d "$DPKG_ROOT/run/systemd/system" ]; then systemctl try-restart sluice.service; fi
`;

/** Leaves no link of a target to a unit that is gone. */
const beforeRemoval = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d "$DPKG_ROOT/run/systemd/system" ]; then systemctl stop sluice.service; fi
if [ "$1" = remove ] && command -v systemctl > /dev/null; then
  systemctl --quiet \${DPKG_ROOT:+--root="$DPKG_ROOT"} disable sluice.service || true
fi
`;

/** The store stays at a purge: it may be the only copy of what was acknowledged. */
const afterRemoval = `#!/bin/sh
set -e
if [ -d "$DPKG_ROOT/run/systemd/system" ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then
  rm -rf "$DPKG_ROOT/var/log/private/sluice" "$DPKG_ROOT/var/log/sluice"
  if [ -e "$DPKG_ROOT/var/lib/private/sluice" ]; then echo "sluice: the store /var/lib/private/sluice is kept" >&2; fi
fi
`;

function ar(members, date) {
  const parts = [Buffer.from('!<arch>\n')];
  for (const [name, bytes] of Object.entries(members)) {
    const head = [name.padEnd(16), String(date).padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
    parts.push(Buffer.from(`${head.join('')}${String(bytes.length).padEnd(10)}\`\n`), bytes);
    if (bytes.length % 2 === 1) parts.push(Buffer.from('\n'));
  }
  return Buffer.concat(parts);
}
