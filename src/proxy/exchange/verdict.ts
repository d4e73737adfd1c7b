// Verdict on the responses of a primary and its mirror (contract.md §7.13).
import type { MirrorMismatch } from '../../model/answers/request-answers.ts';

/** Text of one side around a difference, longer than what is shown: secrets in it are masked before it is cut. */
export interface DifferingText {
  readonly text: string;
  /** Place of the difference in the text. */
  readonly from: number;
}

interface DifferingSide {
  /** 0: there was no response. */
  readonly status: number;
  readonly text: DifferingText | undefined;
}

export interface Difference {
  /** JSON pointer of the difference of two JSON bodies. */
  readonly pointer: string | undefined;
  /** Lower-case name of the field that differs. */
  readonly header: string | undefined;
  readonly primary: DifferingSide;
  readonly mirror: DifferingSide;
}

export interface Verdict {
  readonly result: 'same' | MirrorMismatch['result'] | 'skipped';
  /** Milliseconds to the response head, mirror minus primary; undefined where they are not known. */
  readonly deltaMs: number | undefined;
  readonly difference: Difference | undefined;
}

/** A difference, and the request whose responses differ. */
export interface FoundMismatch
  extends Difference,
    Pick<MirrorMismatch, 'method' | 'host' | 'path' | 'route' | 'routeId' | 'destination' | 'result'> {}
