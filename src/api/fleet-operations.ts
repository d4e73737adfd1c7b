// The operations on the fleet: reads the request, asks the fleet's admin, writes the answer. Any node answers for all.
import type { FleetAdmin } from '../fleet/fleet-admin.ts';
import { acknowledgementOf, reportOf } from '../fleet/messages.ts';
import type { Answer, ApiRequest } from '../resources/answer.ts';
import { objectBody } from '../resources/json-body.ts';

export class FleetOperations {
  readonly #admin: FleetAdmin;

  constructor(admin: FleetAdmin) {
    this.#admin = admin;
  }

  async list(): Promise<Answer> {
    return answer(await this.#admin.list());
  }

  async get(id: string): Promise<Answer> {
    return answer(await this.#admin.get(id));
  }

  async forget(id: string): Promise<Answer> {
    await this.#admin.forget(id);
    return nothing;
  }

  async acknowledge(request: ApiRequest): Promise<Answer> {
    await this.#admin.acknowledge(acknowledgementOf(objectBody(request.body)));
    return nothing;
  }

  async report(request: ApiRequest): Promise<Answer> {
    await this.#admin.report(reportOf(objectBody(request.body)));
    return nothing;
  }
}

const answer = (body: object): Answer => ({ status: 200, headers: {}, body: JSON.stringify(body) });
const nothing: Answer = { status: 204, headers: {}, body: '' };
