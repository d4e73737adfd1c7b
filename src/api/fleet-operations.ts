// The operations on the fleet: reads the request, asks the desk, writes the answer. Any node answers for all.
import type { FleetAdmin } from '../fleet/fleet-admin.ts';
import { acknowledgementOf, reportOf } from '../fleet/messages.ts';
import type { Answer, ApiRequest } from '../resources/answer.ts';
import { objectBody } from '../resources/json-body.ts';

export class FleetOperations {
  readonly #desk: FleetAdmin;

  constructor(desk: FleetAdmin) {
    this.#desk = desk;
  }

  async list(): Promise<Answer> {
    return answer(await this.#desk.list());
  }

  async get(id: string): Promise<Answer> {
    return answer(await this.#desk.get(id));
  }

  async forget(id: string): Promise<Answer> {
    await this.#desk.forget(id);
    return nothing;
  }

  async acknowledge(request: ApiRequest): Promise<Answer> {
    await this.#desk.acknowledge(acknowledgementOf(objectBody(request.body)));
    return nothing;
  }

  async report(request: ApiRequest): Promise<Answer> {
    await this.#desk.report(reportOf(objectBody(request.body)));
    return nothing;
  }
}

const answer = (body: object): Answer => ({ status: 200, headers: {}, body: JSON.stringify(body) });
const nothing: Answer = { status: 204, headers: {}, body: '' };
