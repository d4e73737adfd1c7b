import type { Logger } from '../../src/telemetry/logger.ts';

/** A logger that keeps every line as text. */
export function logCapture(): { readonly logger: Logger; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (fields: object): Logger => {
    const write = (more: object, message: string): void => {
      lines.push(JSON.stringify({ ...fields, ...more, message }, withErrors));
    };
    return { debug: write, info: write, warn: write, error: write, child: (more) => at({ ...fields, ...more }) };
  };
  return { logger: at({}), lines };
}

const withErrors = (_key: string, value: unknown): unknown =>
  value instanceof Error ? { message: value.message, stack: value.stack } : value;
