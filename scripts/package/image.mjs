// Image of a container as a directory (OCI image layout 1.0), written without a daemon: one manifest for each architecture,
// with a layer of libraries and a layer of the program.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzip, tar, withFolders } from './archive.mjs';

/** Number of the user and of the group that the program runs as; no system has one of this number. */
const user = 65_532;

const type = (name) => `application/vnd.oci.image.${name}`;

/**
 * Writes the layout.
 *
 * @param images `{architecture, executable, libraries}` each, libraries as entries of an archive
 * @param documents further files below `usr/share/`, by path
 */
export function writeImages({ folder, root, images, documents, manifest, date }) {
  const blobs = join(folder, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const store = (bytes, mediaType, more = {}) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(blobs, sha256), bytes);
    return { mediaType, digest: `sha256:${sha256}`, size: bytes.length, ...more };
  };
  const storeJson = (value, mediaType, more) => store(Buffer.from(JSON.stringify(value)), mediaType, more);
  const annotations = annotationsOf(manifest);

  const manifests = images.map(({ architecture, executable, libraries }) => {
    const archives = [systemEntries(libraries), programEntries(root, executable, documents)].map((entries) =>
      tar(withFolders(entries), date),
    );
    const platform = { architecture, os: 'linux', ...(architecture === 'arm64' && { variant: 'v8' }) };
    const config = storeJson(configOf({ platform, archives, annotations, date }), type('config.v1+json'));
    const layers = archives.map((archive) => store(gzip(archive), type('layer.v1.tar+gzip')));
    const mediaType = type('manifest.v1+json');
    return storeJson({ schemaVersion: 2, mediaType, config, layers, annotations }, mediaType, { platform });
  });
  const mediaType = type('index.v1+json');
  const index = storeJson({ schemaVersion: 2, mediaType, manifests, annotations }, mediaType, {
    annotations: { 'org.opencontainers.image.ref.name': manifest.version },
  });
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType, manifests: [index] }));
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
}

function configOf({ platform, archives, annotations, date }) {
  const created = new Date(date * 1000).toISOString();
  return {
    created,
    ...platform,
    config: {
      User: `${user}:${user}`,
      Entrypoint: ['/usr/bin/sluice'],
      Cmd: ['--config', '/etc/sluice/config.yaml'],
      Env: ['PATH=/usr/bin'],
      WorkingDir: '/var/lib/sluice',
      Volumes: { '/var/lib/sluice': {} },
      ExposedPorts: { '8080/tcp': {} },
      StopSignal: 'SIGTERM',
      Labels: annotations,
    },
    rootfs: { type: 'layers', diff_ids: archives.map((bytes) => `sha256:${sha256Of(bytes)}`) },
    history: ['libraries of Debian', 'sluice'].map((comment) => ({ created, comment })),
  };
}

const sha256Of = (bytes) => createHash('sha256').update(bytes).digest('hex');

const annotationsOf = ({ version, commit, builtAt }) => ({
  'org.opencontainers.image.title': 'sluice',
  'org.opencontainers.image.description': 'programmable HTTP reverse proxy with its control plane inside',
  'org.opencontainers.image.licenses': 'Apache-2.0',
  'org.opencontainers.image.version': version,
  ...(commit && { 'org.opencontainers.image.revision': commit }),
  ...(builtAt && { 'org.opencontainers.image.created': builtAt }),
});

/** Returns the lower layer: libraries, names of users, and how names of hosts are resolved. */
function systemEntries(libraries) {
  const text = (path, lines) => ({ path, mode: 0o644, bytes: Buffer.from(`${lines.join('\n')}\n`) });
  return [
    text('etc/group', ['root:x:0:', `sluice:x:${user}:`]),
    text('etc/nsswitch.conf', ['hosts: files dns']),
    text('etc/passwd', [
      'root:x:0:0:root:/:/usr/sbin/nologin',
      `sluice:x:${user}:${user}:sluice:/var/lib/sluice:/usr/sbin/nologin`,
    ]),
    ...libraries,
  ];
}

function programEntries(root, executable, documents) {
  const owned = { uid: user, gid: user };
  return [
    { path: 'etc/sluice/config.yaml', mode: 0o644, bytes: readFileSync(join(root, 'deploy/docker/config.yaml')) },
    { path: 'tmp/', mode: 0o1777 },
    { path: 'usr/bin/sluice', mode: 0o755, bytes: executable },
    { path: 'usr/bin/sluice-controller', mode: 0o777, target: 'sluice' },
    ...documents.map(({ path, bytes }) => ({ path: `usr/share/${path}`, mode: 0o644, bytes })),
    { path: 'var/lib/sluice/', mode: 0o700, ...owned },
    { path: 'var/log/sluice/', mode: 0o700, ...owned },
  ];
}
