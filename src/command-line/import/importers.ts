// Importers by the program whose files they read: files → statements → intermediate form → resources, cases and the report.
import { failed } from '../exit.ts';
import type { InputFile } from '../input/input-files.ts';
import { caddy } from './caddy/caddy.ts';
import { type CheckedImport, checkedImport } from './checked-import.ts';
import { haproxy } from './haproxy/haproxy.ts';
import { Ledger, type ReportEntry } from './import-ledger.ts';
import type { Importer } from './importer.ts';
import { ingressNginx } from './ingress-nginx/ingress-nginx.ts';
import { kong } from './kong/kong.ts';
import { nginx } from './nginx/nginx.ts';
import type { Program } from './programs.ts';
import { traefik } from './traefik/traefik.ts';

const importers: Readonly<Record<Program, Importer>> = {
  'ingress-nginx': ingressNginx,
  kong,
  traefik,
  nginx,
  caddy,
  haproxy,
};

export interface ImportResult extends CheckedImport {
  readonly report: readonly ReportEntry[];
}

export async function importFiles(program: Program, files: readonly InputFile[]): Promise<ImportResult> {
  const importer = importers[program];
  const ledger = new Ledger();
  const roots = importer.parse(files);
  if (roots.every(({ children, words }) => children.length + words.length === 0))
    throw failed(`there is nothing to import in ${files.map(({ name }) => name).join(', ')}`);
  const checked = await checkedImport(importer.map(roots, ledger), ledger);
  return { ...checked, report: ledger.report(roots) };
}
