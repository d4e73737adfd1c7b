import { expect } from 'chai';
import { OperationPaths } from '../../../src/api/operation-paths.ts';

describe('operation paths', () => {
  const paths = new OperationPaths();
  paths.add('/v1/routes', ['GET']);
  paths.add('/v1/routes', ['POST']);
  paths.add('/v1/routes/:id', ['PUT', 'GET']);
  paths.add('/v1/docs/*', ['GET']);

  paths.add('/v1/pages/*', ['GET'], new Set(['', 'a.css', 'b/c']));

  const cases: [path: string, methods: string[]][] = [
    ['/v1/routes', ['GET', 'POST']],
    ['/v1/routes/a.b', ['GET', 'PUT']],
    ['/v1/routes/', []],
    ['/v1/routes/a/b', []],
    ['/v1/docs/', ['GET']],
    ['/v1/docs/x/y', ['GET']],
    ['/v1/pages/', ['GET']],
    ['/v1/pages/a.css', ['GET']],
    ['/v1/pages/b/c', ['GET']],
    ['/v1/pages/d', []],
    ['/v1/pages', []],
    ['/v1/%72outes', ['GET', 'POST']],
    ['/v1/routes/a%2Fb', ['GET', 'PUT']],
    ['/v1/routes%2Fa', []],
    ['/v1/routes/%zz', ['GET', 'PUT']],
    ['/v1/%2572outes', []],
    ['/v1/routes?x=/y', ['GET', 'POST']],
    ['http://a.test:80/v1/routes', ['GET', 'POST']],
    ['HTTPS://a.test/v1/%72outes/b?c', ['GET', 'PUT']],
    ['http://a.test', []],
    ['/v1xroutes', []],
    ['', []],
  ];
  for (const [path, methods] of cases) {
    it(`gives [${methods.join(' ')}] for "${path}"`, () => {
      expect(paths.methodsOf(path)).to.deep.equal(methods);
    });
  }
});
