import { expect } from 'chai';
import { hides, markHidden } from '../../../src/model/hidden.ts';
import type { ProxyConfig } from '../../../src/model/proxy-config.ts';

const config = (secrets?: string[]): ProxyConfig => {
  const middlewares = [
    {
      id: 'm',
      name: 'S3CRET',
      type: 'accessLog',
      accessLog: { path: 'stdout', onRequest: { fields: { 'a/b': 'S3CRET', c: 'd' } } },
    },
    { id: 'n', name: 'n', type: 'cors' },
  ];
  const snapshot = { listeners: [], destinations: [], routes: [], groups: [], middlewares } as never;
  const head = { index: 1, id: 's', name: 's', createdAt: '', textOf: () => 'text' };
  return { ...head, snapshot, ...(secrets && { secrets }) };
};

describe('marks of secrets in a configuration', () => {
  it('tell where strings came from secrets, and mask those that are only shown', () => {
    const at = '/snapshot/middlewares/0';
    const marked = markHidden(config([`${at}/name`, `${at}/accessLog/onRequest/fields/a~1b`, `${at}/accessLog/path`]));
    const [one, other] = marked.snapshot.middlewares;
    expect(one).to.deep.include({ id: 'm', name: '***' });
    expect(one?.accessLog).to.deep.equal({ path: 'stdout', onRequest: { fields: { 'a/b': '***', c: 'd' } } });
    expect(hides(one ?? {}, '/accessLog/path')).to.equal(true);
    expect(hides(one ?? {}, '/accessLog')).to.equal(true);
    expect(hides(one ?? {}, '/access')).to.equal(false);
    expect(hides(other ?? {}, '/name')).to.equal(false);
    expect(marked.textOf?.('middlewares', 0)).to.equal(undefined);
    expect(marked.textOf?.('middlewares', 1)).to.equal('text');
  });

  it('leave other entities, and configurations without secrets, the objects that they are', () => {
    const plain = config();
    expect(markHidden(plain)).to.equal(plain);
    const some = config(['/snapshot/middlewares/0/name', '/snapshot/nothing/0/x', 'x']);
    expect(markHidden(some).snapshot.middlewares[1]).to.equal(some.snapshot.middlewares[1]);
    expect(markHidden(some).snapshot).to.equal(markHidden({ ...some }).snapshot);
  });
});
