import { expect } from 'chai';
import { programs } from '../../src/command-line/import/programs.ts';
import { Client } from '../support/client.ts';
import { importPaths } from '../support/imports.ts';
import { type SluiceProcess, startSluice } from '../support/sluice-process.ts';

const ingress = `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: hello
spec:
  rules:
    - host: hello.example
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: { service: { name: hello, port: { number: 80 } } }
`;

describe('the command import', () => {
  let sluice: SluiceProcess;
  let client: Client;

  before(async () => {
    sluice = await startSluice();
    client = new Client({ servers: [sluice.url] });
    client.write('hello.yaml', ingress);
  });

  after(() => sluice?.stop());

  it('prints the resources, and the report on standard error', async () => {
    const { stdout, stderr, code } = await client.run(['import', 'ingress-nginx', 'hello.yaml']);
    expect(code).to.equal(0);
    expect(stdout).to.contain('hostnames:\n        - hello.example').and.to.contain('pathPrefix: /');
    expect(stderr).to.contain('3 resources, 1 case; directives: 8 taken, 0 approximated, 0 not taken');
  });

  it('writes files that test and apply take', async () => {
    await client.output('import', 'ingress-nginx', 'hello.yaml', '--out', 'conf');
    expect(await client.output('test', 'conf/cases.yaml', '-f', 'conf/resources.yaml')).to.equal('1 case, 0 failed\n');
    expect(await client.output('apply', '-f', 'conf/resources.yaml')).to.match(/^staged {4}3 changes in one batch/);
    const { stdout } = await client.run(['get', 'routes', '-o', 'name']);
    expect(stdout).to.equal('routes/hello-hello.example\n');
  });

  it('replaces files only after a question', async () => {
    await client.output('import', 'ingress-nginx', 'hello.yaml', '--out', 'twice');
    const again = ['import', 'ingress-nginx', 'hello.yaml', '--out', 'twice'];
    const unasked = await client.run(again);
    expect(unasked.code).to.equal(2);
    expect(unasked.stderr).to.contain('Replace resources.yaml, cases.yaml, report.yaml in twice?');
    expect((await client.run([...again, '--yes'])).code).to.equal(0);
  });

  it('exits with 3 and names file, line and directive where something is not taken', async () => {
    client.write('snippet.yaml', ingress.replace('  name: hello\n', `  name: hello\n  annotations: { ${snippet} }\n`));
    const { stderr, code } = await client.run(['import', 'ingress-nginx', 'snippet.yaml']);
    expect(code).to.equal(3);
    expect(stderr).to.match(/^snippet\.yaml:5:18 {2}not taken {2}metadata\.annotations\..*server-snippet/m);
    const whole = await client.run(['import', 'ingress-nginx', 'snippet.yaml', '-o', 'json']);
    expect(whole.code).to.equal(3);
    const { resources, cases, report } = JSON.parse(whole.stdout);
    expect(resources.routes).to.have.length(1);
    expect(cases).to.have.length(1);
    expect(report.filter((each: { outcome: string }) => each.outcome === 'not taken')).to.have.length(1);
  });

  it('names the place of what it cannot read, and refuses programs that it does not know', async () => {
    client.write('bad.yaml', 'kind: Ingress\nspec: [\n');
    const bad = await client.run(['import', 'ingress-nginx', 'bad.yaml']);
    expect(bad.code).to.equal(1);
    expect(bad.stderr).to.match(/bad\.yaml:\d+:\d+ /);
    expect((await client.run(['import', 'ingress-nginx', 'absent.yaml'])).code).to.equal(1);
    const unknown = await client.run(['import', 'ingress-ngins', 'hello.yaml']);
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.contain('ingress-nginx');
  });

  it('reads a file of each program', async () => {
    for (const program of programs) {
      const [path = ''] = importPaths(program);
      const { code, stderr } = await client.run(['import', program, path]);
      expect(code, stderr).to.be.oneOf([0, 3]);
    }
  });
});

const snippet = 'nginx.ingress.kubernetes.io/server-snippet: "return 403;"';
