import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';
import { newFolder } from '../../../support/sluice-process.ts';

describe('files that nginx includes', () => {
  const server = (port: number) => `server { listen ${port}; location / { return 204; } }\n`;

  async function imported(folder: string, name: string) {
    const file = { name: join(folder, name), text: readFileSync(join(folder, name), 'utf8') };
    const { resources, report } = await importFiles('nginx', [file]);
    return {
      ports: resources.filter(({ kind }) => kind === 'listeners').map(({ fields }) => fields.port),
      notTaken: report.filter(({ outcome }) => outcome === 'not taken').map(({ statement }) => statement.words[0]),
    };
  }

  it('are looked for below the folder of the main file, and told where they are not there', async () => {
    const folder = newFolder();
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    };
    write('conf.d/a.conf', `include snippets/*.conf;\n${server(1001)}`);
    write('snippets/b.conf', server(1002));
    mkdirSync(join(folder, 'empty'));
    write(
      'nginx.conf',
      `http { include conf.d/*.conf; include empty/*.conf; include absent/*.conf; include absent.conf; include mime.types; }`,
    );
    expect(await imported(folder, 'nginx.conf')).to.deep.equal({
      ports: [1002, 1001],
      notTaken: ['absent/*.conf', 'absent.conf'],
    });
    expect(await imported(folder, 'conf.d/a.conf')).to.deep.equal({ ports: [1002, 1001], notTaken: [] });
  });
});
