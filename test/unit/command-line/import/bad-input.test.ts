import { expect } from 'chai';
import { importFiles } from '../../../../src/command-line/import/importers.ts';
import { type Program, programs } from '../../../../src/command-line/import/programs.ts';

const refusal = async (program: Program, text: string): Promise<string> => {
  try {
    await importFiles(program, [{ name: 'given', text }]);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('input that an importer cannot read', () => {
  it('is refused with its place where nginx would not read it either', async () => {
    expect(await refusal('nginx', 'server {\n  listen 80\n}\n')).to.match(/^given:3:1 .*"listen" is not terminated/);
    expect(await refusal('nginx', 'server {\n  listen 80;\n')).to.match(/^given:3:1 .*unexpected end of the file/);
    expect(await refusal('nginx', 'server { } }')).to.match(/^given:1:12 .*unexpected "}"/);
    expect(await refusal('nginx', 'add_header X "open;\n')).to.match(/^given:1:14 .*quote is not closed/);
  });

  it('is refused with its place where HAProxy would not read it either', async () => {
    expect(await refusal('haproxy', '\n  bind :80\n')).to.match(/^given:2:3 .*"bind" stands in no section/);
    expect(await refusal('haproxy', 'frontend a\n  acl x path "open\n')).to.match(/^given:2:14 .*quote is not closed/);
    expect(await refusal('haproxy', `frontend a\n  acl x path ${'y '.repeat(2000)}`)).to.match(
      /^given:2:3 .*more than 1024 words/,
    );
  });

  it('is refused with its place where it is no YAML, JSON or Caddyfile that was adapted', async () => {
    for (const program of ['ingress-nginx', 'kong', 'traefik', 'caddy'] as const)
      expect(await refusal(program, 'a: [1,\nb: {')).to.match(/^given:\d+:\d+ /);
    expect(await refusal('caddy', 'example.com\n')).to.match(/^given:1:1 .*caddy adapt/);
  });

  it('is bounded in depth, values and size', async () => {
    expect(await refusal('nginx', 'a {'.repeat(100))).to.match(/nested deeper than 32 levels/);
    expect(await refusal('kong', `${'[\n'.repeat(100)}${']'.repeat(100)}`)).to.match(/nested deeper than 64 levels/);
    expect(await refusal('kong', `a: "${'x'.repeat(5 * 1024 * 1024)}"`)).to.match(/more than 4 MiB/);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefg'].map((name, at) => `${name}: &${name} [${`*${'abcdef'[at]},`.repeat(9)}*${'abcdef'[at]}]\n`).join('')}`;
    expect(await refusal('kong', bomb)).to.match(/more than 200000 values/);
  });

  it('is refused where it holds nothing', async () => {
    for (const program of programs)
      for (const text of ['', '# nothing\n'])
        expect(await refusal(program, text), program).to.equal('there is nothing to import in given');
  });
});
