// Messages that docs/operations.md quotes beside its drills: each is one that the program has, word for word.
import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const root = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/operations.md`, 'utf8');

/** Sources with values in texts as `§`, and texts in pieces as one. */
const sources = globSync(['src/**/*.ts', 'raft/**/*.ts', 'disk/**/*.ts'], { cwd: root })
  .map((file) => readFileSync(`${root}${file}`, 'utf8'))
  .join('\n')
  .replace(/['"`]\s*\+\s*['"`]/g, '')
  .replace(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, '§');

/** Texts in the prose that are sentences of the program: several words of letters, no command, path, setting or code. */
function quotedMessages(): readonly string[] {
  const prose = page
    .replace(/```[\s\S]*?```/g, '')
    .replace(/^ {4}.*$/gm, '')
    .replace(/^\|.*$/gm, '');
  const spans = [...prose.replaceAll('\n', ' ').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return spans.filter(
    (text) => /^(?!npm )[a-z…]/.test(text) && text.split(' ').length >= 3 && !/[={}<>$/[]/.test(text),
  );
}

/** Names of nodes, numbers and what is left out stand for values. */
const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .split(/(…|\b[abc]\b|\d+|ahead of)/)
      .map((part, at) => (at % 2 === 0 ? part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : '[^\'`"\\n]*'))
      .join(''),
  );

describe('messages in docs/operations.md', () => {
  it('are there', () => expect(quotedMessages().length).to.be.above(8));

  for (const message of new Set(quotedMessages()))
    it(`has the program: ${message}`, () => expect(sources).to.match(patternOf(message)));
});
