// Decision of an authorization service, independent of the protocol.
import type { LocalReply, MiddlewareExchange } from '../../exchange/phase.ts';
import type { ExternalDirectory } from '../../external/external-services.ts';
import type { HeaderChange } from '../../external/header-change.ts';
import type { ReportIgnored } from '../../external/ignored-fields.ts';
import type { AuthzCall } from './authz-call.ts';
import type { Check } from './check.ts';

export type Decision =
  | {
      readonly allowed: true;
      readonly toUpstream: readonly HeaderChange[];
      /** Names of request fields that go. */
      readonly removed: readonly string[];
      readonly toClient: readonly HeaderChange[];
      /** In place of the request's own, towards the upstream; undefined: untouched. */
      readonly query: string | undefined;
    }
  | { readonly allowed: false; readonly reply: LocalReply };

export interface AuthzRequest {
  readonly check: Check;
  readonly exchange: MiddlewareExchange;
  /** Place of the middleware in its chain. */
  readonly slot: number;
  /** Undefined when the service is shown none. */
  readonly body: Buffer | undefined;
  readonly services: ExternalDirectory;
  readonly call: AuthzCall;
  readonly ignored: ReportIgnored;
  /** 0 = no limit. */
  readonly timeoutMs: number;
}

/** Rejects when the service cannot be reached or its answer is not usable. */
export type AskDecision = (question: AuthzRequest) => Promise<Decision>;
