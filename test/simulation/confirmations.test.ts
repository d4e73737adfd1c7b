// Activations that wait for a confirmation in the simulator (cluster/confirmations.ts).
import { expect } from 'chai';
import { World } from '../../raft/testing/sim/world.ts';
import { ClusterProgram } from './cluster/cluster-program.ts';
import { Activators, confirmationPlan } from './cluster/confirmations.ts';

const seeds = Number(process.env.SLUICE_SEEDS ?? 30);

describe('activations without a confirmation in the simulator', function () {
  this.timeout(600_000);

  it(`go back at most five seconds late while clocks jump by an hour, leaders die and all start again, for seeds 1 to ${seeds}`, async () => {
    let goneBack = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      let activators: Activators | undefined;
      const world = new World(
        confirmationPlan(seed),
        (programWorld) =>
          new ClusterProgram(programWorld, (...parts) => {
            activators = new Activators(...parts);
            return activators;
          }),
      );
      const { violation } = await world.settled();
      if (violation !== undefined) throw new Error(`seed ${seed} breaks ${violation.message}`);
      goneBack += activators?.goneBack ?? 0;
    }
    // A cluster that activates nothing keeps every promise.
    expect(goneBack).to.be.above(2 * seeds);
  });
});
