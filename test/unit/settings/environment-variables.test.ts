import { expect } from 'chai';
import { expand, unsetIn } from '../../../src/settings/environment-variables.ts';
import { parseSettings } from '../../../src/settings/settings.ts';

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

describe('environment variables that are not set', () => {
  it('are named once, unless a text is there for them or the line is a comment', () => {
    const text = 'a: ${GONE}\nb: "${GONE}${PORT}${EMPTY}"\n  # ${NOTE}\nc: ${ELSE:-}\nd: $${LITERAL}\ne: ${LAST}\n';
    expect(unsetIn(text, { PORT: '1', EMPTY: '' })).to.deep.equal(['GONE', 'LAST']);
  });

  it('are named in a warning of settings that can be used without them', () => {
    const { warnings } = parseSettings('log: { level: info }\nproxy: { bindAddress: "127.0.0.1" } ${GONE}\n', {});
    expect(warnings).to.include('the environment variable GONE is not set, so ${GONE} is empty');
  });

  it('are named by the error of settings that cannot', () => {
    const named = /the environment variable OPS_KEY is not set, so \$\{OPS_KEY\} is empty/;
    const auth = 'controlPlane:\n  auth:\n    apiKeys: [{ name: ops, key: "${OPS_KEY}" }]\n';
    expect(() => parseSettings(auth, {})).to.throw(named);
    expect(() => parseSettings('controlPlane: [${OPS_KEY}\n', {})).to.throw(named);
    expect(() => parseSettings('controlPlane: []\n', {})).not.to.throw(named);
  });
});
