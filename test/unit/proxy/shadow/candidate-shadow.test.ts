// Work of a shadow for requests whose entries differ (fleet.md §7).
import { expect } from 'chai';
import { shadowExamplesMax } from '../../../../src/model/shadow.ts';
import { ConsumerDirectory } from '../../../../src/proxy/consumers/consumer-directory.ts';
import type { ShadowSurroundings } from '../../../../src/proxy/exchange/exchange-context.ts';
import { CandidateShadow } from '../../../../src/proxy/shadow/candidate-shadow.ts';
import type { FoundExample } from '../../../../src/proxy/shadow/example-log.ts';
import { Figures } from '../../../../src/proxy/shared/figures.ts';
import { ShareCell } from '../../../../src/proxy/shared/share-cell.ts';
import { aRoute, tableOf } from '../../../support/routing.ts';
import { StubExchange } from '../../../support/stub-exchange.ts';

const forwarding = (more: object = {}) =>
  tableOf({ routes: [aRoute('r', {}, { forward: { destinations: [{ destinationId: 'd' }], ...more } })] });

const surroundings = {
  dataPlane: { celBodyMaxSize: 0 },
  served: () => ({ whole: undefined, sectionOf: () => undefined, bodyBytesMax: 0 }),
  settings: () => ({ bodyBytesMax: 0 }),
} as unknown as ShadowSurroundings;

/** Shadow of a candidate whose route also has `more`; counts the targets that are made by its pattern. */
function shadowed(more: object) {
  const stable = forwarding();
  const candidate = forwarding({ rewrite: { pathRegex: { pattern: '^/a', substitution: '/b' } }, ...more });
  const [entry] = stable.entries;
  const [{ action } = {}] = candidate.entries;
  const regex = action?.kind === 'forward' ? action.plan.rewrite?.pathRegex?.regex : undefined;
  if (regex === undefined) throw new Error('the route has no pattern');
  const work = { targets: 0 };
  const replaceAll = regex.replaceAll.bind(regex);
  regex.replaceAll = (...of: Parameters<typeof replaceAll>) => {
    work.targets += 1;
    return replaceAll(...of);
  };
  const examples: FoundExample[] = [];
  const cell = new ShareCell();
  cell.shadowSample = 1;
  const figures = new Figures();
  const consumers = ConsumerDirectory.none;
  const shadow = new CandidateShadow(
    { rollout: 'r', table: candidate, listeners: { at: () => undefined }, consumers, isOver: () => false },
    { consumers },
    cell,
    { figures, onExample: (example) => void examples.push(example), random: () => 0 },
  );
  const take = (requests: number, path = '/a') => {
    for (let at = 0; at < requests; at++) shadow.take(new StubExchange({ path }).request, entry, surroundings);
  };
  return { take, work, examples, counts: () => figures.read('candidate').shadow };
}

const withField = { headers: { requestHeadersToAdd: [{ key: 'x-new', value: '1' }] } };

describe('the shadow of a candidate', () => {
  it('makes no target of a request that is known to move, once examples are enough', () => {
    const { take, work, examples, counts } = shadowed(withField);
    take(shadowExamplesMax + 50);
    expect(counts()).to.include({ requests: shadowExamplesMax + 50, moved: shadowExamplesMax + 50 });
    expect(examples).to.have.lengthOf(shadowExamplesMax);
    for (const { what } of examples) expect(what).to.deep.equal(['fields', 'rewrite']);
    expect(work.targets).to.equal(shadowExamplesMax);
  });

  it('makes the target of each request where it alone decides', () => {
    const { take, work, examples, counts } = shadowed({});
    take(shadowExamplesMax + 50);
    take(7, '/elsewhere');
    expect(counts()).to.include({ moved: shadowExamplesMax + 50, same: 7 });
    expect(examples.at(-1)?.what).to.deep.equal(['rewrite']);
    expect(work.targets).to.equal(shadowExamplesMax + 57);
  });
});
