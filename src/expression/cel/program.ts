// Whether a text is a CEL expression that can run in its environment (contract.md §6.6).
import { Environment } from '@marcbachmann/cel-js';

const expressionLengthMax = 8192;
const limits = { maxAstNodes: 1000, maxDepth: 48, maxListElements: 512, maxMapEntries: 64, maxCallArguments: 8 };
const environments = {
  request: new Environment({ limits }).registerVariable('request', 'map<string, dyn>'),
  claims: new Environment({ limits }).registerVariable('claims', 'map<string, dyn>').registerVariable('now', 'int'),
};

/** What is wrong with an expression, for a person; undefined when it compiles and its type fits. */
export const checkCel = (
  text: string,
  environment: 'request' | 'claims',
  result: 'bool' | 'any',
): string | undefined => {
  if (text.length > expressionLengthMax) return `is longer than ${expressionLengthMax} characters`;
  try {
    const checked = environments[environment].check(text);
    if (!checked.valid) return checked.error?.message.split('\n')[0] ?? 'is not a CEL expression';
    if (result === 'any' || checked.type === 'bool' || checked.type === 'dyn') return undefined;
    return `must yield bool, not ${checked.type}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};
