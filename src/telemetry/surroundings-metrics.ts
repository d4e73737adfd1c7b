// Surroundings of the process in its metrics: listeners that are open or not, ends of certificates, room on the disk, lines
// of logs that did not get out.
// Made afresh each time.
import { statfs } from 'node:fs/promises';
import { Counter, Gauge, Registry } from 'prom-client';

export interface CertificateEnd {
  /** Name of the listener; empty for a certificate of the process itself. */
  readonly listener: string;
  /** Place of the certificate: `tls`, `tls/certificates/3`, `controlPlane.tls`. */
  readonly certificate: string;
  /** Unix seconds. */
  readonly endsS: number;
}

export interface Surroundings {
  readonly listeners: () => readonly {
    readonly name: string;
    readonly address: string;
    readonly port: number;
    readonly state: string;
  }[];
  readonly certificates: () => readonly CertificateEnd[];
  /** Directories whose disks are watched. */
  readonly directories: readonly string[];
  /** Lines that were lost since the start: of the log of the process, and of access logs. */
  readonly lostLines: () => { readonly process: number; readonly access: number };
}

export async function surroundingsMetrics({
  listeners,
  certificates,
  directories,
  lostLines,
}: Surroundings): Promise<Registry> {
  const registry = new Registry();
  const registers = [registry];
  const open = new Gauge({
    name: 'sluice_listener_open',
    help: 'Listeners of the active configuration: 1 for one that is open, 0 for one that is not.',
    labelNames: ['listener', 'address'],
    registers,
  });
  for (const { name, address, port, state } of listeners()) {
    open.set({ listener: name, address: `${address}:${port}` }, state === 'open' ? 1 : 0);
  }
  const ends = new Gauge({
    name: 'sluice_certificate_expiry_seconds',
    help: 'End of each certificate that the process shows, Unix time.',
    labelNames: ['listener', 'certificate'],
    registers,
  });
  for (const { listener, certificate, endsS } of certificates()) ends.set({ listener, certificate }, endsS);
  const free = new Gauge({
    name: 'sluice_disk_free_bytes',
    help: 'Bytes that the process may still write on the disk of a directory; none where the system does not say.',
    labelNames: ['path'],
    registers,
  });
  for (const path of directories) {
    const disk = await statfs(path).catch(() => undefined);
    if (disk !== undefined) free.set({ path }, disk.bavail * disk.bsize);
  }
  const lost = new Counter({
    name: 'sluice_log_lines_lost_total',
    help: 'Lines that could not be written: of the log of the process, and of access logs.',
    labelNames: ['log'],
    registers,
  });
  for (const [log, lines] of Object.entries(lostLines())) lost.inc({ log }, lines);
  return registry;
}
