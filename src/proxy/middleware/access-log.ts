// Middleware type accessLog (contract.md §8.7): a line when a request comes, one when its response is complete, or
// both. Lines are handed over and forgotten: no request ever waits for a disk.
import { accessLogDefaults } from '../../model/defaults.ts';
import type { AccessLogConfig, AccessLogLine } from '../../model/middleware/access-log.ts';
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import { jsonInner, plainText } from './log-text.ts';
import { isHarmless, type LogMoment, logVariable } from './log-variables.ts';
import { piecesOf, type Variable } from './template.ts';

/** Takes whole lines for one place; may drop them, and counts those. */
export interface LineSink {
  /** `line` ends with a line break. */
  write(line: string): void;
}

export function buildAccessLog(config: AccessLogConfig, sink: LineSink): MiddlewarePhases {
  const json = config.json ?? accessLogDefaults.json;
  const onRequest = compileLine(config.onRequest, json);
  const onResponse = compileLine(config.onResponse, json);
  const readsLines = Object.values(config.onResponse?.fields ?? {}).some((text) => text.includes('${response.header.'));
  const moment = (exchange: MiddlewareExchange, slot: number, complete: boolean): LogMoment => ({
    exchange,
    slot,
    complete,
    nowMs: exchange.clock.monotonicMs(),
  });
  return {
    ...(onRequest === undefined
      ? {}
      : {
          onRequest(exchange: MiddlewareExchange, slot: number) {
            sink.write(onRequest(moment(exchange, slot, false)));
            return undefined;
          },
        }),
    ...(onResponse === undefined
      ? {}
      : {
          // The line is written when the upstream's connection may be another exchange's.
          ...(readsLines ? { onResponse: keepLines } : {}),
          onFinish(exchange: MiddlewareExchange, slot: number) {
            sink.write(onResponse(moment(exchange, slot, true)));
          },
        }),
  };
}

function keepLines({ response }: MiddlewareExchange): undefined {
  response.keepLines();
}

type LineWriter = (moment: LogMoment) => string;

/** Undefined when no line is asked for. What is the same in each line is put together here. */
function compileLine(line: AccessLogLine | undefined, json: boolean): LineWriter | undefined {
  const fields = Object.entries(line?.fields ?? {});
  if (fields.length === 0) return undefined;
  const shown = json ? jsonInner : plainText;
  const pieces = new LinePieces(shown);
  fields.forEach(([key, text], i) => {
    const between = i === 0 ? '' : json ? ',' : ' ';
    pieces.constant(json ? `${between}"${jsonInner(key)}":"` : `${between}${plainText(key)}=`);
    pieces.template(text);
    if (json) pieces.constant('"');
  });
  const [begin, end] = json ? ['{', '}\n'] : ['', '\n'];
  const { values, behind } = pieces;
  const before = begin + pieces.before;
  return (moment) => {
    let text = before;
    for (let i = 0; i < values.length; i++) text += (values[i]?.(moment) ?? '') + (behind[i] ?? '');
    return text + end;
  };
}

/** A line as values with constant text before, between and behind them. */
class LinePieces {
  readonly values: Variable<LogMoment>[] = [];
  readonly behind: string[] = [];
  before = '';
  readonly #shown: (text: string) => string;

  constructor(shown: (text: string) => string) {
    this.#shown = shown;
  }

  constant(text: string): void {
    const last = this.behind.length - 1;
    if (last < 0) this.before += text;
    else this.behind[last] += text;
  }

  template(text: string): void {
    const shown = this.#shown;
    for (const piece of piecesOf(text, logVariable)) {
      if (typeof piece === 'string') this.constant(shown(piece));
      else {
        this.values.push(isHarmless(piece) ? piece : (moment) => shown(piece(moment)));
        this.behind.push('');
      }
    }
  }
}
