import { expect } from 'chai';
import { refusedSteps } from '../../../src/controller/publish/refused-steps.ts';
import { SluiceRefusal } from '../../../src/controller/publish/sluice-api.ts';

const steps = [
  { key: 'routes/a~b', text: '{}' },
  { key: 'middlewares/m', text: undefined },
  { key: 'routes/c', text: '{}' },
];
const refused = (message: string, operation?: number): string[] =>
  refusedSteps(new SluiceRefusal(400, message, operation), steps).map(({ key }) => key);

describe('steps that Sluice refuses', () => {
  it('are the operation that it names', () => {
    expect(refused('/operations/2/body/port is required', 2)).to.deep.equal(['routes/c']);
  });

  it('are those on the entity of the snapshot that it names first, and none that its text quotes', () => {
    const message = '/snapshot/routes/a~0b/middlewareIds/0 refers to no middleware; /snapshot/routes/c x';
    expect(refused(message)).to.deep.equal(['routes/a~b']);
  });

  it('are the deletions where an entity that stays as it is needs what is deleted', () => {
    expect(refused('/snapshot/routes/live/middlewareIds/0 refers to no middleware')).to.deep.equal(['middlewares/m']);
  });

  it('are none where the fault is elsewhere', () => {
    expect(refused('/snapshot/base: routes/a~b was edited')).to.deep.equal([]);
    expect(refused('a batch is running; /snapshot/routes/c x')).to.deep.equal([]);
  });
});
