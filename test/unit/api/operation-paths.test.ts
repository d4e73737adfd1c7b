import { expect } from 'chai';
import { OperationPaths } from '../../../src/api/operation-paths.ts';

describe('operation paths', () => {
  const paths = new OperationPaths();
  paths.add('/v1/routes', ['GET']);
  paths.add('/v1/routes', ['POST']);
  paths.add('/v1/routes/:id', ['PUT', 'GET']);
  paths.add('/v1/docs/*', ['GET']);

  const cases: [path: string, methods: string[]][] = [
    ['/v1/routes', ['GET', 'POST']],
    ['/v1/routes/a.b', ['GET', 'PUT']],
    ['/v1/routes/', []],
    ['/v1/routes/a/b', []],
    ['/v1/docs/', ['GET']],
    ['/v1/docs/x/y', ['GET']],
    ['/v1xroutes', []],
    ['', []],
  ];
  for (const [path, methods] of cases) {
    it(`gives [${methods.join(' ')}] for "${path}"`, () => {
      expect(paths.methodsOf(path)).to.deep.equal(methods);
    });
  }
});
