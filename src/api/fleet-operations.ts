// Operations on the fleet: reads the request, asks the fleet's admin, writes the answer. Any node answers for all.
import type { FleetAdmin } from '../fleet/fleet-admin.ts';
import { leaseMessageOf, unknownInLeases } from '../fleet/leases/lease-report.ts';
import {
  acknowledgementOf,
  answerOf,
  reportOf,
  unknownInAcknowledgement,
  unknownInAnswer,
  unknownInReport,
} from '../fleet/peer-messages.ts';
import { withoutBody } from '../resources/checked-body.ts';
import { objectBody } from '../resources/json-body.ts';
import { fieldValidationOf } from '../resources/query.ts';
import type { Answer, ApiRequest } from '../resources/resource-answer.ts';
import { unknownFieldWarnings } from '../resources/unknown-fields.ts';

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

  async disks(): Promise<Answer> {
    return answer(await this.#admin.disks());
  }

  async forget(id: string, request: ApiRequest): Promise<Answer> {
    const unknownFields = await withoutBody(request);
    await this.#admin.forget(id);
    return { ...nothing, headers: { ...unknownFields } };
  }

  async acknowledge(request: ApiRequest): Promise<Answer> {
    const body = await objectBody(request.body);
    const message = acknowledgementOf(body);
    const unknownFields = unknownFieldWarnings(unknownInAcknowledgement(body), fieldValidationOf(request));
    await this.#admin.acknowledge(message);
    return { ...nothing, headers: { ...unknownFields } };
  }

  async report(request: ApiRequest): Promise<Answer> {
    const body = await objectBody(request.body);
    const message = reportOf(body);
    const unknownFields = unknownFieldWarnings(unknownInReport(body), fieldValidationOf(request));
    await this.#admin.report(message);
    return { ...nothing, headers: { ...unknownFields } };
  }

  async answered(request: ApiRequest): Promise<Answer> {
    const body = await objectBody(request.body);
    const message = answerOf(body);
    const unknownFields = unknownFieldWarnings(unknownInAnswer(body), fieldValidationOf(request));
    await this.#admin.answered(message);
    return { ...nothing, headers: { ...unknownFields } };
  }

  async leases(request: ApiRequest): Promise<Answer> {
    const body = await objectBody(request.body);
    const message = leaseMessageOf(body);
    const unknownFields = unknownFieldWarnings(unknownInLeases(body), fieldValidationOf(request));
    return { ...answer(await this.#admin.leases(message)), headers: { ...unknownFields } };
  }
}

const answer = (body: object): Answer => ({ status: 200, headers: {}, body: JSON.stringify(body) });
const nothing: Answer = { status: 204, headers: {}, body: '' };
