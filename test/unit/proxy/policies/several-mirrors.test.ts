// Several mirrors of one route, each with a fraction (contract.md §2.4.2, §7.13).
import { expect } from 'chai';
import { eventually } from '../../../support/eventually.ts';
import { VersionedBed, versions } from '../../../support/versioned-bed.ts';

for (const version of versions) {
  describe(`several mirrors, over ${version}`, () => {
    let bed: VersionedBed;
    beforeEach(async () => {
      bed = await VersionedBed.open(version);
      await bed.upstreams(['main', 'one', 'two']);
    });
    afterEach(() => bed.end());

    const destinations = [{ destinationId: 'main' }];
    const copies = (name: string) => bed.seen.filter((each) => each.name === name);

    it('get the whole body each, and the answer is that of the destination', async () => {
      await bed.install({ destinations, mirrors: [{ destinationId: 'one' }, { destinationId: 'two' }] });
      const body = 'b'.repeat(300_000);
      expect(await bed.ask('/x?y=1', { 'x-mine': 'yes' }, body)).to.include({ status: 200, body: 'main' });
      for (const name of ['main', 'one', 'two']) {
        await eventually(() => expect(copies(name)).to.have.length(1));
        const [copy] = copies(name);
        expect(copy?.url).to.equal('/x?y=1');
        expect(copy?.headers['x-mine']).to.equal('yes');
        expect(copy?.body === body).to.equal(true);
      }
    });

    it('get their fractions of the requests', async () => {
      const mirrors = [
        { destinationId: 'one', fraction: { numerator: 1, denominator: 2 } },
        { destinationId: 'two', fraction: { numerator: 0 } },
      ];
      await bed.install({ destinations, mirrors });
      await bed.counts(200);
      await eventually(() => expect(copies('one').length).to.be.within(40, 160));
      expect(copies('two')).to.have.length(0);
    });

    it('a whole fraction copies every request, of the single mirror too', async () => {
      for (const forward of [
        { mirrors: [{ destinationId: 'one', fraction: { numerator: 7, denominator: 7 } }] },
        { mirror: { destinationId: 'one', fraction: { numerator: 100 } } },
        { mirror: { destinationId: 'one' } },
      ]) {
        bed.seen.length = 0;
        await bed.install({ destinations, ...forward });
        await bed.counts(20);
        await eventually(() => expect(copies('one')).to.have.length(20));
      }
    });

    it('are edited as the route says, not as the share does', async () => {
      const add = (value: string) => ({ requestHeadersToAdd: [{ key: 'x-by', value }] });
      const own = { headers: add('share'), rewrite: { path: '/share' } };
      const route = { headers: add('route'), rewrite: { path: '/route' }, mirrors: [{ destinationId: 'one' }] };
      await bed.install({ destinations: [{ destinationId: 'main', ...own }], ...route });
      await bed.ask('/x');
      await eventually(() => expect(copies('one')).to.have.length(1));
      const seenBy = (name: string) => copies(name).map(({ url, headers }) => [url, headers['x-by']]);
      expect(seenBy('main')).to.deep.equal([['/share/x', 'share']]);
      expect(seenBy('one')).to.deep.equal([['/route/x', 'route']]);
    });

    it('one that does not exist, and one that is slow, keep nothing from the others', async () => {
      await bed.upstreams(['never'], () => {});
      const mirrors = [{ destinationId: 'missing' }, { destinationId: 'never' }, { destinationId: 'two' }];
      await bed.install({ destinations, mirrors });
      expect((await bed.ask('/', {}, 'body')).body).to.equal('main');
      await eventually(() => expect(copies('two').map(({ body }) => body)).to.deep.equal(['body']));
    });

    it('get the rest of a body whose request has failed', async () => {
      const gone = { ...bed.destination('gone'), port: 1 };
      const mirrors = [{ destinationId: 'one' }, { destinationId: 'two' }];
      await bed.install({ destinations: [{ destinationId: 'gone' }], mirrors }, { destinations: [gone] });
      const body = 'b'.repeat(300_000);
      expect((await bed.ask('/', {}, body)).status).to.equal(502);
      for (const name of ['one', 'two'])
        await eventually(() => expect(copies(name).map((copy) => copy.body.length)).to.deep.equal([body.length]));
    });
  });
}
