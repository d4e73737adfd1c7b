import { expect } from 'chai';
import { expand } from '../../../src/settings/environment-variables.ts';

describe('environment variables in the settings file (contract.md §1.1)', () => {
  const rows: [string, string, string][] = [
    ['${NAME}: the value', '${PORT}', '9000'],
    ['${NAME}: empty when unset', '[${NOWHERE}]', '[]'],
    ['${NAME:-text}: the value when set', '${PORT:-1}', '9000'],
    ['${NAME:-text}: the text when unset', '${NOWHERE:-1}', '1'],
    ['${NAME:-text}: the text when empty', '${EMPTY:-1}', '1'],
    ['${NAME:-text}: the text may be empty', '[${NOWHERE:-}]', '[]'],
    ['${NAME:-text}: the text may hold colons', '${ADDR:-:8080}', ':8080'],
    ['${NAME:-text}: the text runs to the first brace', '${NOWHERE:-a}b}', 'ab}'],
    ['$NAME stays', '$PORT', '$PORT'],
    ['$$ stays', 'pa$$word', 'pa$$word'],
    ['a lone $ stays', 'a $ b', 'a $ b'],
    ['$${ is a literal ${', '$${PORT}', '${PORT}'],
    ['a name that is none stays', '${9X} ${a-b}', '${9X} ${a-b}'],
    ['values are not expanded again', '${NESTED}', '${PORT}'],
    ['several in one text', '${PORT}:${PORT}', '9000:9000'],
  ];
  const environment = { PORT: '9000', EMPTY: '', NESTED: '${PORT}' };

  for (const [name, text, expanded] of rows) {
    it(name, () => expect(expand(text, environment)).to.equal(expanded));
  }
});
