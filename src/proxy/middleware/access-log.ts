// Middleware type accessLog (contract.md §8.7): a line when a request comes, one when its response is complete, or
// both. Lines are handed over and forgotten: no request ever waits for a disk.
import { accessLogDefaults } from '../../model/defaults.ts';
import type { AccessLogConfig, AccessLogLine } from '../../model/middleware/access-log.ts';
import type { MiddlewareExchange, MiddlewarePhases } from '../exchange/phase.ts';
import { jsonText, plainText } from './log-text.ts';
import { type LogMoment, logVariable } from './log-variables.ts';
import { compileTemplate, type Template } from './template.ts';

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

/** Undefined when no line is asked for. */
function compileLine(line: AccessLogLine | undefined, json: boolean): LineWriter | undefined {
  const fields = Object.entries(line?.fields ?? {}).map(([key, text]) => fieldOf(key, text, json));
  if (fields.length === 0) return undefined;
  const [begin, between, end] = json ? ['{', ',', '}\n'] : ['', ' ', '\n'];
  const shown = json ? jsonText : plainText;
  return (moment) => {
    let text = begin;
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i];
      if (field === undefined) break;
      text += (i > 0 ? between : '') + field.key + shown(field.value.fill(moment));
    }
    return text + end;
  };
}

interface Field {
  /** As it stands before the value. */
  readonly key: string;
  readonly value: Template<LogMoment>;
}

const fieldOf = (key: string, text: string, json: boolean): Field => ({
  key: json ? `${jsonText(key)}:` : `${plainText(key)}=`,
  value: compileTemplate(text, logVariable),
});
