import { expect } from 'chai';
import { comparedImport, type Foreign, titleOf } from '../support/imported-proxy.ts';
import { importPaths } from '../support/imports.ts';
import { needs } from '../support/needs.ts';

/** `npm run test:importers` compares 200 requests of every file; without it some of a few. */
const requests = Number(process.env.IMPORT_REQUESTS ?? 0);
const filesEach = 3;

/** Files that the program cannot run here: certificates, users, modules and disks that they name are not there. */
const leftOut: Readonly<Record<Foreign, readonly string[]>> = {
  nginx: ['secure.conf', 'users.conf'],
  caddy: [],
  haproxy: ['secure.cfg', 'tcp.cfg', 'sni.cfg', 'debian.cfg', 'users.cfg', 'balance.cfg'],
};

for (const program of Object.keys(leftOut) as Foreign[])
  describe(`${program} and what is imported of it`, function () {
    this.timeout(120_000);
    const paths = importPaths(program).filter((path) => !leftOut[program].includes(titleOf(path)));
    const chosen = requests > 0 ? paths : paths.filter((_, at) => at % Math.ceil(paths.length / filesEach) === 0);

    before(function () {
      needs(this, program);
    });

    for (const path of chosen)
      it(`answer alike to requests of ${titleOf(path)}, but for what the report names`, async () => {
        const { compared, excused, differences } = await comparedImport(program, path, requests > 0 ? requests : 40);
        expect(differences.slice(0, 5)).to.deep.equal([]);
        expect(compared).to.be.at.least(20);
        if (requests > 0) process.stderr.write(`      ${compared} compared, ${excused} excused by the report\n`);
      });
  });
