// Signature of the checksums by a key of OpenSSH that the builder names: SHA256SUMS.sig beside SHA256SUMS (sshsig). It
// covers every file by its checksum; no file carries a signature of its own.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync } from 'node:fs';

/** Namespace of signatures of files, as ssh-keygen(1) recommends. */
const namespace = 'file';

/** Throws unless the key can be read: a build of minutes is not to end with that. */
export function checkKey(key) {
  accessSync(key, constants.R_OK);
}

/** Signs a file; ssh-keygen asks for the passphrase of the key where it has one. Returns the path of the signature. */
export function sign(file, key) {
  // ssh-keygen asks before it writes over a signature.
  rmSync(`${file}.sig`, { force: true });
  const { status, error } = spawnSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key, file], {
    stdio: ['inherit', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`ssh-keygen did not sign: ${error?.message ?? `exit ${status}`}`);
  return `${file}.sig`;
}
