// Request and response of an exchange as middlewares edit them. The view of the request for expressions follows each change.
import type { ExchangeRequest } from '../message/request.ts';
import { ExchangeResponse } from '../message/response.ts';

export abstract class EditedMessages<R extends ExchangeRequest = ExchangeRequest> {
  readonly request: R;
  readonly response = new ExchangeResponse();
  upstreamQuery: string | undefined;

  constructor(request: R) {
    this.request = request;
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

  setUpstreamQuery(query: string): void {
    this.upstreamQuery = query;
  }
}
