// Exchange of a request that is not served, for middlewares that decide alone: their phases are the ones that serve.
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import type { LoneExchange } from '../exchange/phase.ts';
import { ExchangeResponse } from '../message/response.ts';
import type { ShadowRequest } from './shadow-request.ts';

export class ShadowExchange implements LoneExchange {
  readonly request: ShadowRequest;
  readonly response = new ExchangeResponse();
  readonly state: unknown[] = [];
  readonly consumers: ConsumerDirectory;
  upstreamQuery: string | undefined;

  constructor(request: ShadowRequest, consumers: ConsumerDirectory) {
    this.request = request;
    this.consumers = consumers;
  }

  clear(): void {
    this.response.clear();
    this.state.length = 0;
    this.upstreamQuery = undefined;
  }

  setUpstreamQuery(query: string): void {
    this.upstreamQuery = query;
  }

  setRequestField(name: string, value: string): boolean {
    this.request.view.forgetHeaders();
    return this.request.edits.set(name, value);
  }

  appendRequestField(name: string, value: string): boolean {
    this.request.view.forgetHeaders();
    return this.request.edits.append(name, value);
  }

  removeRequestField(name: string): boolean {
    this.request.view.forgetHeaders();
    return this.request.edits.remove(name);
  }

  stripRequestField(name: string): boolean {
    this.request.view.forgetHeaders();
    return this.request.edits.removeParsed(name);
  }
}
