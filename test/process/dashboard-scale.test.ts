// The dashboard over 100,000 routes and 10,000 proxies. `npm run bench:dashboard` tells the figures.
import { expect } from 'chai';
import { browserPath } from '../support/browser.ts';
import { LargeDashboard } from '../support/large-dashboard.ts';
import { needs } from '../support/needs.ts';

describe('the dashboard over many resources', () => {
  let dashboard: LargeDashboard;

  before(async function () {
    needs(this, browserPath);
    dashboard = await LargeDashboard.open(100_000);
  });
  after(() => dashboard?.close());

  it('shows the first of 100,000 routes within a second of work, and keeps few rows in the document', async () => {
    expect(await dashboard.firstRoute()).to.be.below(1_000);
    expect(await dashboard.rows()).to.be.below(100);
  });

  it('searches them within 100 ms of work, from the input to the number of rows', async () => {
    for (const each of await dashboard.searches()) expect(each).to.be.below(100);
  });

  it('takes at most 200 MB for them', async () => {
    expect(await dashboard.heap()).to.be.below(200e6);
  });

  it('shows 10,000 proxies within a second of work', async () => {
    expect(await dashboard.firstProxy(10_000)).to.be.below(1_000);
  });
});
