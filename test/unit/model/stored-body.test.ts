import { expect } from 'chai';
import { storedBodyBytesMax } from '../../../src/model/body-from.ts';
import { findReferences, mayHoldReferences, replaceReferences } from '../../../src/model/secret-reference.ts';
import { describeRows } from '../../support/entities.ts';

const route = (directResponse: object) => ({ name: 'r', directResponse: { status: 200, ...directResponse } });

const page = (statuses: readonly string[]) => ({ ...route({}), errorPages: [{ statuses, bodyFrom: { text: 'x' } }] });

describeRows('stored bodies (contract.md §2.4.6)', 'routes', [
  ['a text', route({ bodyFrom: { text: 'x' } })],
  ['a secret', route({ bodyFrom: { secret: 's' } })],
  ['a file', route({ bodyFrom: { file: '/etc/sluice/bodies/a' } })],
  ['no source', route({ bodyFrom: {} }), ['/directResponse/bodyFrom']],
  ['two sources', route({ bodyFrom: { text: 'a', secret: 's' } }), ['/directResponse/bodyFrom/secret']],
  ['a body beside it', route({ body: 'a', bodyFrom: { text: 'b' } }), ['/directResponse/bodyFrom']],
  [
    'a text above 1 MiB',
    route({ bodyFrom: { text: 'x'.repeat(storedBodyBytesMax + 1) } }),
    ['/directResponse/bodyFrom/text'],
  ],
  ['a relative path', route({ bodyFrom: { file: 'page.html' } }), ['/directResponse/bodyFrom/file']],
  ['a path with ..', route({ bodyFrom: { file: '/a/../b' } }), ['/directResponse/bodyFrom/file']],
  [
    'Content-Type among headers',
    route({ headers: [{ key: 'content-type', value: 'a/b' }] }),
    ['/directResponse/headers/0/key'],
  ],
  ['a framing header', route({ headers: [{ key: 'Content-Length', value: '1' }] }), ['/directResponse/headers/0/key']],
  ['a content type of two lines', route({ contentType: 'a\r\nb' }), ['/directResponse/contentType']],
]);

describeRows('error pages (contract.md §9.1)', 'routes', [
  ['statuses and ranges', page(['404', '502-504'])],
  ['none', page([]), ['/errorPages/0/statuses']],
  ['a status that is no error', page(['404', '302']), ['/errorPages/0/statuses/1']],
]);

describe('references of stored bodies', () => {
  const spec = { errorPages: [{ bodyFrom: { secret: 's' } }], directResponse: { bodyFrom: { file: '/a}b' } } };

  it('are found with the place of the source and that of the value', () => {
    expect(findReferences(spec)).to.deep.equal([
      {
        source: 'value',
        argument: 's',
        text: '{{secret:value:s}}',
        pointer: '/errorPages/0/bodyFrom/secret',
        valuePointer: '/errorPages/0/bodyFrom/text',
      },
      {
        source: 'body',
        argument: '/a}b',
        text: '{{secret:body:/a}b}}',
        pointer: '/directResponse/bodyFrom/file',
        valuePointer: '/directResponse/bodyFrom/text',
      },
    ]);
    expect(mayHoldReferences(JSON.stringify(spec))).to.equal(true);
  });

  it('become texts where they have a value, and stay where they have none', () => {
    expect(replaceReferences(spec, ({ source }) => (source === 'body' ? 'B' : undefined))).to.deep.equal({
      errorPages: [{ bodyFrom: { secret: 's' } }],
      directResponse: { bodyFrom: { text: 'B' } },
    });
  });

  it('are no text: one that spells a file reads none', () => {
    expect(findReferences({ body: '{{secret:body:/etc/passwd}}' })).to.deep.equal([]);
  });
});
