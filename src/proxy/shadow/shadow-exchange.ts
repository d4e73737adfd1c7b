// Exchange of a request that is not served, for middlewares that decide alone: their phases are the ones that serve.
import type { ConsumerDirectory } from '../consumers/consumer-directory.ts';
import { EditedMessages } from '../exchange/edited-messages.ts';
import type { LoneExchange } from '../exchange/phase.ts';
import type { ShadowRequest } from './shadow-request.ts';

export class ShadowExchange extends EditedMessages<ShadowRequest> implements LoneExchange {
  readonly state: unknown[] = [];
  readonly consumers: ConsumerDirectory;
  /** Hashes that the password of the request was compared with, and those that it is still to be compared with. */
  readonly verified = new Set<string>();
  readonly unverified = new Set<string>();
  /** Limit of the listener for bodies, where the route has none; 0: none. */
  bodyBytesMax = 0;

  constructor(request: ShadowRequest, consumers: ConsumerDirectory) {
    super(request);
    this.consumers = consumers;
  }

  clear(): void {
    this.response.clear();
    if (this.state.length > 0) this.state.length = 0;
    this.upstreamQuery = undefined;
    // Sets that are cleared get a table of their own each time.
    if (this.verified.size > 0) this.verified.clear();
    if (this.unverified.size > 0) this.unverified.clear();
  }

  notePassword(hash: string, isVerified: boolean): void {
    (isVerified ? this.verified : this.unverified).add(hash);
  }
}
