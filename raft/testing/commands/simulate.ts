// `npm run simulate -- --seeds N [--from S] [--nodes 1..7] [--minutes M] [--plan file]`: whole raft clusters by seed.
import { drawPlan } from '../sim/draw-plan.ts';
import { World } from '../sim/world.ts';
import { campaign } from './campaign.ts';

await campaign({ command: 'npm run simulate', draw: drawPlan, run: (plan) => new World(plan).run() });
