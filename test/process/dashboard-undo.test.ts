// Time in which the dashboard shows what went wrong and takes it back: a rollout that a guard rolls back, and Undo by the keyboard
// from every page. The bounds are for a busy machine; `npm run bench:dashboard` tells the figures of a quiet one.
import { expect } from 'chai';
import { prepareMistake, seeGuardFail, undoOnEveryPage } from '../support/dashboard-mistake.ts';
import { dashboardStory } from '../support/dashboard-story.ts';

/** On a quiet machine 2 s and 3 s are kept. */
const boundMs = 60_000;

describe('a mistake in a browser', function () {
  this.timeout(240_000);
  const story = dashboardStory(prepareMistake);

  it('is undone from every page with two keys', async () => {
    const { page } = await story.visit('');
    const tookMs = await undoOnEveryPage(page, story.sluice.url);
    const most = Math.max(...tookMs);
    console.log(`      undone on ${tookMs.length} pages, within ${Math.round(most)} ms at most`);
    expect(most).to.be.below(boundMs);
  });

  it('is seen soon after a guard has rolled a rollout back, with the guard and what it saw', async () => {
    const opened = await story.visit('rollout');
    const { ms, alert } = await seeGuardFail(story.api, opened, (client) =>
      story.statusOf('/shop', { 'x-client': client }),
    );
    console.log(`      the guard was seen ${ms} ms after it had failed`);
    expect(alert).to.match(/candidate: \d+ requests, 100 % errors/);
    expect(ms).to.be.below(boundMs);
  });
});
