// Middleware type accessLog (contract.md §8.7): a line when a request comes, one when its response is complete, or
// both. Lines are handed over and forgotten: no request ever waits for a disk.
import { accessLogDefaults } from '../../model/defaults.ts';
import type { AccessLogConfig, AccessLogLine } from '../../model/middleware/access-log-options.ts';
import type { LineSink } from '../access-log/line-sink.ts';

import { LineForm } from './line-form.ts';
import { jsonInner } from './log-text.ts';
import type { LoggedExchange, LogMoment } from './log-variables.ts';

/** Phases of an access log, of a request as of a connection. */
export interface AccessLogPhases {
  onRequest?(exchange: LoggedExchange, slot: number): undefined;
  onResponse?(exchange: LoggedExchange): undefined;
  onFinish?(exchange: LoggedExchange, slot: number): void;
}

export function buildAccessLog(config: AccessLogConfig, sink: LineSink): AccessLogPhases {
  const json = config.json ?? accessLogDefaults.json;
  const templates = [config.onRequest, config.onResponse].flatMap((line) => Object.values(line?.fields ?? {}));
  const keepsId = templates.join().split('${id}').length > 2;
  const onRequest = compileLine(config.onRequest, json, keepsId);
  const onResponse = compileLine(config.onResponse, json, keepsId);
  const readsLines = Object.values(config.onResponse?.fields ?? {}).some((text) => text.includes('${response.header.'));
  const moment = (exchange: LoggedExchange, slot: number, complete: boolean): LogMoment => ({
    exchange,
    slot,
    complete,
    nowMs: exchange.nowMs,
  });
  const write = (line: LineForm, at: LogMoment): void => {
    const bytes = sink.begin();
    if (bytes === undefined) return;
    line.write(at, bytes);
    sink.end();
  };
  return {
    ...(onRequest === undefined
      ? {}
      : {
          onRequest(exchange: LoggedExchange, slot: number) {
            write(onRequest, moment(exchange, slot, false));
            return undefined;
          },
        }),
    ...(onResponse === undefined
      ? {}
      : {
          // The line is written when the upstream's connection may be another exchange's.
          ...(readsLines ? { onResponse: keepLines } : {}),
          onFinish(exchange: LoggedExchange, slot: number) {
            write(onResponse, moment(exchange, slot, true));
          },
        }),
  };
}

function keepLines({ response }: LoggedExchange): undefined {
  response.keepLines();
}

/** Undefined when no line is asked for. What is the same in each line is put together here. */
function compileLine(line: AccessLogLine | undefined, json: boolean, keepsId: boolean): LineForm | undefined {
  const fields = Object.entries(line?.fields ?? {});
  if (fields.length === 0) return undefined;
  const form = new LineForm(jsonInner, keepsId);
  if (json) form.constant('{');
  fields.forEach(([key, text], i) => {
    const between = i === 0 ? '' : json ? ',' : ' ';
    form.constant(json ? `${between}"${jsonInner(key)}":"` : `${between}${jsonInner(key)}=`);
    if (json) form.template(text);
    else form.quotable(text);
    if (json) form.constant('"');
  });
  form.constant(json ? '}\n' : '\n');
  return form;
}
