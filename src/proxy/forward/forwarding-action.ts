// Forward action: what a route with `forward` does with a request. An exchange keeps its run for its next request.
import type { Action, ActionExchange } from '../exchange/entry.ts';
import type { ForwardPlan } from './forward-plan.ts';
import { Forwarding } from './forwarding.ts';
import { endsHere } from './max-forwards.ts';

export class ForwardAction implements Action {
  readonly kind = 'forward';
  readonly plan: ForwardPlan;

  constructor(plan: ForwardPlan) {
    this.plan = plan;
  }

  begin(exchange: ActionExchange): void {
    if (endsHere(exchange)) return;
    const run = exchange.run instanceof Forwarding ? exchange.run : new Forwarding(exchange);
    exchange.run = run;
    run.begin(this.plan);
  }
}
