import { expect } from 'chai';
import { validateSync } from 'class-validator';
import fc from 'fast-check';
import { decode } from '../../../src/model/decode.ts';
import { kinds } from '../../../src/model/kinds.ts';
import type { Problem } from '../../../src/model/problem.ts';
import type { Scalar } from '../../../src/model/scalar.ts';
import { type Class, type Element, fieldsOf, type Shape } from '../../../src/model/schema.ts';
import { classOf, parseEntity } from '../../../src/model/validation.ts';
import { isValid } from '../../../src/model/validation-fast-path.ts';

const texts = [
  'a',
  'b-1',
  '5s',
  '/x',
  'a.example',
  '10.0.0.0/8',
  'true',
  '{{secret:env:A}}',
  '',
  '(',
  'a b',
  '-1s',
  '\n',
];
const numbers = [0, 1, 80, 100, 200, 404, 503, 301, 65537, -1, 1.5, Number.POSITIVE_INFINITY];
const junk = fc.oneof(
  fc.constantFrom(null, undefined, '', 5, true, [], {}, [null], [[]]),
  fc.jsonValue({ maxDepth: 2 }),
);

const scalar = ({ json, schema }: Scalar): fc.Arbitrary<unknown> => {
  if (json === 'boolean') return fc.boolean();
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  return json === 'number' ? fc.constantFrom(...numbers) : fc.constantFrom(...texts);
};

const element = (of: Element): fc.Arbitrary<unknown> => (of.is === 'scalar' ? scalar(of.scalar) : objectOf(of.of));

const shaped = (shape: Shape): fc.Arbitrary<unknown> => {
  if (shape.is === 'list') return fc.array(element(shape.of), { maxLength: 3 });
  if (shape.is === 'map') {
    const keys = fc.constantFrom('a', 'constructor', '__proto__', 'x/y~z', '');
    return fc.array(fc.tuple(keys, element(shape.of)), { maxLength: 2 }).map((entries) => Object.fromEntries(entries));
  }
  return element(shape);
};

/** Objects with the fields of the class, mostly of the right shape, plus keys that no class has. */
const objectOf = (cls: Class): fc.Arbitrary<unknown> => {
  const known = [...fieldsOf(cls).values()];
  // A class with many fields has no more of them at a time, so that as many objects are accepted.
  const absence = Math.max(60, 16 * known.length);
  const fields = known.map(({ name, shape, required }) => {
    const present = fc.oneof({ weight: 40, arbitrary: shaped(shape) }, { weight: 1, arbitrary: junk });
    const absent = { weight: required ? 1 : absence, arbitrary: fc.constant(undefined) };
    return fc.oneof({ weight: 20, arbitrary: present }, absent).map((value): [string, unknown] => [name, value]);
  });
  const stray = fc
    .constantFrom('__proto__', 'constructor', 'extra', 'Name')
    .chain((key) => junk.map((value) => [key, value]));
  const strays = fc.oneof(
    { weight: 8, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(stray, { maxLength: 2 }) },
  );
  return fc
    .tuple(fc.tuple(...fields), strays)
    .map(([own, other]) => Object.fromEntries([...own, ...other].filter(([, value]) => value !== undefined)));
};

/** The value at all segments but the last exists in the body: the pointer leads a person to the place. */
const leadsSomewhere = (body: unknown, { pointer }: Problem): boolean => {
  const segments = pointer.split('/').slice(1, -1);
  const place = segments.reduce<unknown>((value, segment) => {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? Reflect.get(value, key)
      : undefined;
  }, body);
  return typeof place === 'object' && place !== null;
};

describe('any JSON', () => {
  for (const kind of kinds) {
    it(`gives problems or an entity that is read as itself: ${kind}`, () => {
      let accepted = 0;
      const check = (body: unknown) => {
        const { entity, problems, unknown } = parseEntity(kind, body);
        if (problems.length > 0) {
          for (const problem of problems) expect(leadsSomewhere(body, problem), problem.pointer).to.equal(true);
          return;
        }
        accepted += 1;
        const text = JSON.stringify(entity);
        const again = parseEntity(kind, JSON.parse(text));
        expect(again.problems).to.deep.equal([]);
        expect(again.unknown).to.deep.equal([]);
        expect(JSON.stringify(again.entity)).to.equal(text);
        expect(unknown.length).to.be.at.most(100);
      };
      fc.assert(fc.property(objectOf(classOf[kind]), check), { numRuns: 1_200, seed: 1 });
      expect(accepted, 'accepted of 1,200').to.be.within(8, 1_199);
      expect({}).not.to.have.property('extra');
    });

    it(`is sound only where class-validator finds nothing, and mostly there: ${kind}`, () => {
      let right = 0;
      let sound = 0;
      const check = (body: unknown) => {
        const admission = decode(classOf[kind], body as Record<string, unknown>);
        const { object, mapped } = admission;
        const all = [object, ...mapped.map((placed) => placed.object)];
        const isRight = all.every((each) => validateSync(each).length === 0);
        const isQuick = all.every(isValid);
        if (isQuick) expect(isRight).to.equal(true);
        right += isRight ? 1 : 0;
        sound += isQuick ? 1 : 0;
      };
      fc.assert(fc.property(objectOf(classOf[kind]), check), { numRuns: 400, seed: 3 });
      expect(sound).to.be.at.least(right * 0.25);
    });

    it(`never throws for any shape: ${kind}`, () => {
      fc.assert(
        fc.property(fc.anything(), (body) => {
          expect(parseEntity(kind, body).problems).to.be.an('array');
        }),
        { seed: 2 },
      );
    });
  }
});
