import { expect } from 'chai';
import { NameTable, type NameTables, resolved } from '../../../src/command-line/plan/references.ts';
import { editableKinds } from '../../../src/model/kinds.ts';

function tables(): NameTables {
  const all = Object.fromEntries(editableKinds.map((kind) => [kind, new NameTable()])) as NameTables;
  all.secrets.add('s-1', 'sorry page');
  return all;
}

const route = (secret: string) => ({
  name: 'r',
  directResponse: { status: 200, bodyFrom: { text: 'sorry page' } },
  errorPages: [{ statuses: ['404'], bodyFrom: { secret } }],
});

describe('names of secrets in stored bodies', () => {
  it('become ids, and texts stay', () => {
    const result = resolved('routes', route('sorry page'), tables(), () => expect.fail('is known'));
    expect(result).to.deep.equal(route('s-1'));
  });

  it('are told with their place where no secret has them', () => {
    const told: unknown[] = [];
    resolved('routes', route('sory page'), tables(), (segments, message) => told.push([segments, message]));
    expect(told).to.deep.equal([
      [['errorPages', 0, 'bodyFrom', 'secret'], '"sory page" is not a secret (did you mean "sorry page"?)'],
    ]);
  });
});
