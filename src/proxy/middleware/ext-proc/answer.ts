// Messages to a processor and its answers, independent of the protocol (contract.md §8.6).

import type { Clock } from '../../../util/clock.ts';
import type { LocalReply } from '../../exchange/phase.ts';
import type { ExternalDirectory } from '../../external/external-services.ts';
import type { HeaderChange } from '../../external/header-change.ts';
import type { ReportIgnored } from '../../external/ignored-fields.ts';
import type { ServiceCall, TracedCall } from '../../tracing/exchange-trace.ts';
import type { Wheel } from '../../wheel.ts';

export type PhaseName = 'requestHeaders' | 'requestBody' | 'responseHeaders' | 'responseBody';

export interface PhaseMessage {
  readonly phase: PhaseName;
  /** Lower-case names and values as text, in turn; with header phases. */
  readonly headers?: readonly string[];
  /** With body phases. */
  readonly body?: Buffer;
  readonly endOfStream: boolean;
  readonly observeOnly: boolean;
}

/** Changes of the phases of one exchange; only those that are named. */
export interface PhaseModes {
  readonly requestHeaders?: 'send' | 'skip';
  readonly responseHeaders?: 'send' | 'skip';
  readonly requestBody?: BodyMode;
  readonly responseBody?: BodyMode;
}

export type BodyMode = 'none' | 'buffered' | 'bufferedPartial' | 'streamed';

export interface Action {
  readonly kind: 'action';
  /** Phase of the action; undefined: a phase that no processor sees. */
  readonly phase: PhaseName | undefined;
  readonly removed: readonly string[];
  readonly changes: readonly HeaderChange[];
  /** In place of the whole body, or of the chunk that was shown. */
  readonly body: Buffer | undefined;
  /** Nothing more of this direction is to be sent. */
  readonly last: boolean;
  readonly modes: PhaseModes | undefined;
}

/** `goOn`: the processor wants no part in the rest of the exchange. */
export type Answer = Action | { readonly kind: 'reject'; readonly reply: LocalReply } | { readonly kind: 'goOn' };

/** The messages of one exchange. */
export interface Conversation {
  /** One at a time. Rejects when there is no usable answer within `timeoutMs`. */
  ask(message: PhaseMessage, timeoutMs: number): Promise<Answer>;
  /** Ends the conversation: no further message is sent. */
  end(): void;
}

export interface ProcessorTools {
  readonly services: ExternalDirectory;
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly destinationId: string;
  /** Longest time that a service may ask for in place of the configured one, in milliseconds; 0 = none. */
  readonly timeoutMsMax: number;
  readonly ignored: ReportIgnored;
  /** Records a call that begins in the trace; undefined without a trace. `operation`: as in ServiceCall. */
  readonly traced: (operation: string, kind: ServiceCall['kind']) => TracedCall | undefined;
}

export type OpenConversation = (tools: ProcessorTools) => Conversation;

/** Names of the phases in the messages of both protocols, in the order in which answers are scanned. */
export const phaseFields: ReadonlyMap<PhaseName, string> = new Map([
  ['requestHeaders', 'request_headers'],
  ['responseHeaders', 'response_headers'],
  ['requestBody', 'request_body'],
  ['responseBody', 'response_body'],
]);
