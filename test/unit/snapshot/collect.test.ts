import { expect } from 'chai';
import { externalBytesMax, referencesOf, resolveReferences } from '../../../src/snapshot/collect.ts';
import { missingFor, readAs, type SecretSources } from '../../../src/snapshot/secret-sources.ts';
import { staged } from '../../support/staged.ts';

const sources = (env: Record<string, string>, files: Record<string, string> = {}): SecretSources => ({
  env: (name) => (env[name] === undefined ? missingFor('unset') : readAs(env[name])),
  file: async (path) => (files[path] === undefined ? missingFor('unreadable') : readAs(files[path])),
  body: async (path) => (files[path] === undefined ? missingFor('unreadable') : readAs(files[path])),
});

describe('collecting secret references', () => {
  it('names every reference with its place, kinds and ids in order', () => {
    const { entities } = staged({
      routes: { b: { a: ['x', '{{secret:env:A}}{{secret:file:/f}}'] } },
      listeners: { l: { 'a/b': { 'c~': '{{secret:value:s}}' } } },
      secrets: { s: { value: '{{secret:env:NOT_READ}}' } },
    });
    expect(referencesOf(entities).map(({ pointer, text }) => [pointer, text])).to.deep.equal([
      ['/listeners/l/a~1b/c~0', '{{secret:value:s}}'],
      ['/routes/b/a/1', '{{secret:env:A}}'],
      ['/routes/b/a/1', '{{secret:file:/f}}'],
    ]);
  });

  it('gives all values, and apart those that travel in the command', async () => {
    const moment = staged({
      routes: { a: { x: '{{secret:env:A}}', y: '{{secret:value:s}}', z: '{{secret:file:/f}}' } },
      secrets: { s: { value: 'S' } },
    });
    const { values, external, problems } = await resolveReferences(moment, sources({ A: '1' }, { '/f': 'F\n' }));
    expect(problems).to.deep.equal([]);
    expect(external).to.deep.equal({ '{{secret:env:A}}': '1', '{{secret:file:/f}}': 'F\n' });
    expect(values).to.deep.equal({ ...external, '{{secret:value:s}}': 'S' });
  });

  it('asks a source once, however often a reference occurs', async () => {
    let asked = 0;
    const counting: SecretSources = {
      env: () => readAs(`v${++asked}`),
      file: async () => missingFor(''),
      body: async () => missingFor(''),
    };
    const moment = staged({ routes: { a: { x: '{{secret:env:A}}' }, b: { x: '{{secret:env:A}}-{{secret:env:A}}' } } });
    await resolveReferences(moment, counting);
    expect(asked).to.equal(1);
  });

  it('names every place without a value, and why', async () => {
    const moment = staged({
      routes: { a: { x: '{{secret:env:GONE}}' }, b: { y: '{{secret:env:GONE}}' } },
      groups: { g: { z: '{{secret:value:gone}}{{secret:file:/gone}}' } },
    });
    const { problems } = await resolveReferences(moment, sources({}));
    expect(problems).to.deep.equal([
      { pointer: '/routes/a/x', message: 'holds a secret reference without a value: unset' },
      { pointer: '/routes/b/y', message: 'holds a secret reference without a value: unset' },
      { pointer: '/groups/g/z', message: 'holds a secret reference without a value: secret "gone" does not exist' },
      { pointer: '/groups/g/z', message: 'holds a secret reference without a value: unreadable' },
    ]);
  });

  it('refuses what still looks like a reference afterwards', async () => {
    const moment = staged({
      routes: { a: { x: '{{secret:vault:k}}' }, b: { y: '{{secret:env:A}}' }, c: { z: '{{secret:env:' } },
    });
    const { problems } = await resolveReferences(moment, sources({ A: 'a {{secret:value:inner}}' }));
    expect(problems.map(({ pointer }) => pointer)).to.deep.equal(['/routes/a/x', '/routes/b/y', '/routes/c/z']);
  });

  it('names what looks like a reference beside references without a value, and quotes no secret', async () => {
    const moment = staged({ routes: { a: { x: '{{secret:env:GONE}} {{secret:vault:k}}', y: '{{secret:env:A}}' } } });
    const { problems } = await resolveReferences(moment, sources({ A: 'MARKER {{secret:' }));
    expect(problems).to.deep.equal([
      { pointer: '/routes/a/x', message: 'holds a secret reference without a value: unset' },
      { pointer: '/routes/a/x', message: 'holds {{secret: without a known source, an argument and }}' },
      { pointer: '/routes/a/y', message: 'holds a secret whose value holds {{secret: itself' },
    ]);
  });

  it('finds no secret by a name of the prototype', async () => {
    const moment = staged({ routes: { a: { x: '{{secret:value:constructor}}' } } });
    expect((await resolveReferences(moment, sources({}))).problems).to.have.length(1);
  });

  it('refuses more than fits into a command', async () => {
    const moment = staged({ routes: { a: { x: '{{secret:env:A}}' } } });
    const { problems } = await resolveReferences(moment, sources({ A: 'x'.repeat(externalBytesMax + 1) }));
    expect(problems).to.have.length(1);
    expect(problems[0]?.message).to.include(`more than ${externalBytesMax}`);
  });
});
