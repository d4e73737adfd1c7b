// The rules that the library's parser and checker do not know, found by walking the syntax tree before it is checked:
// constant patterns, fields named in has(), depth of loops, `"x" in request`, and whether a body must be buffered.
import type { ASTNode, SourceRange } from '@marcbachmann/cel-js';
import { ExpressionError } from '../expression-error.ts';
import { checkRegex } from '../regex.ts';
import { problemOfConstant } from './address-functions.ts';
import { messages } from './environment.ts';
import { comprehensionOf, fieldName, operandsOf, textOf } from './syntax.ts';

/** Maximum depth of all, exists, map and filter inside each other's bodies. */
const loopDepthMax = 2;

export interface ExpressionFacts {
  /** True when the expression reads `request.body`. */
  readonly needsBody: boolean;
  /** Nodes that ask whether a field of the request is there, `"x" in request`: checked as `has(request.x)`. */
  readonly presences: readonly Presence[];
}

interface Presence {
  readonly node: ASTNode;
  /** `has(request.x)`. */
  readonly asHas: string;
}

/** Something that a rule refuses, and where. */
export class RuleError extends ExpressionError {
  readonly range: SourceRange;

  constructor(message: string, range: SourceRange) {
    super(message);
    this.range = range;
  }
}

interface Position {
  readonly loops: number;
  /** Variables of macros, which may hide `request`. */
  readonly hidden: ReadonlySet<string>;
}

/** Walks the whole tree. Throws RuleError for the first rule that is broken. */
export function inspect(root: ASTNode): ExpressionFacts {
  const presences: Presence[] = [];
  let needsBody = false;
  const visit = (node: ASTNode, place: Position): void => {
    checkCall(node, place);
    const presence = presenceOf(node, place);
    if (presence) presences.push(presence);
    needsBody ||= readsBody(node, place);
    for (const [child, inner] of children(node, place)) visit(child, inner);
  };
  visit(root, { loops: 0, hidden: new Set() });
  return { needsBody, presences };
}

function checkCall(node: ASTNode, place: Position): void {
  if (place.loops > loopDepthMax) {
    throw new RuleError(`loops may be nested ${loopDepthMax} deep at most`, node.range);
  }
  if (node.op === 'call' && node.args[0] === 'has') checkField(node.args[1][0], place);
  checkAddress(node);
  const pattern = patternOf(node);
  if (pattern === undefined) return;
  if (pattern.op !== 'value' || typeof pattern.args !== 'string') {
    throw new RuleError('matches() needs a constant pattern', pattern.range);
  }
  const problem = checkRegex(pattern.args);
  if (problem !== undefined) throw new RuleError(problem, pattern.range);
}

/** A constant that is no address would fail at every request. */
function checkAddress(node: ASTNode): void {
  if (node.op !== 'call' && node.op !== 'rcall') return;
  const argument = node.op === 'call' ? node.args[1][0] : node.args[2][0];
  const text = textOf(argument);
  const problem = text === undefined ? undefined : problemOfConstant(node.args[0], text);
  if (argument !== undefined && problem !== undefined) throw new RuleError(problem, argument.range);
}

function patternOf(node: ASTNode): ASTNode | undefined {
  if (node.op === 'rcall' && node.args[0] === 'matches') return node.args[2][0];
  return node.op === 'call' && node.args[0] === 'matches' ? node.args[1][1] : undefined;
}

/** The checker does not look inside has(): a misspelt field would be silently absent. */
function checkField(node: ASTNode | undefined, place: Position): void {
  if (node?.op !== '.') return;
  checkField(node.args[0], place);
  const type = typeOf(node.args[0], place);
  const fields = type === undefined ? undefined : messages[type];
  if (fields && !Object.hasOwn(fields, node.args[1])) {
    throw new RuleError(`No such key: ${node.args[1]}`, { start: node.end - node.args[1].length, end: node.end });
  }
}

/** The message type of `request` or `response` and what lies under it; undefined for everything else. */
function typeOf(node: ASTNode, place: Position): string | undefined {
  if (node.op === 'id') return place.hidden.has(node.args) ? undefined : rootTypes.get(node.args);
  const name = fieldName(node);
  if (name === undefined || (node.op !== '.' && node.op !== '[]')) return undefined;
  const fields = messages[typeOf(node.args[0], place) ?? ''];
  return fields && Object.hasOwn(fields, name) ? fields[name] : undefined;
}

const rootTypes: ReadonlyMap<string, string> = new Map([
  ['request', 'Request'],
  ['response', 'Response'],
]);

function presenceOf(node: ASTNode, place: Position): Presence | undefined {
  if (node.op !== 'in') return undefined;
  const [name, owner] = node.args;
  const field = textOf(name);
  const type = typeOf(owner, place);
  const fields = type === undefined ? undefined : messages[type];
  if (field === undefined || !fields) return undefined;
  if (!Object.hasOwn(fields, field)) throw new RuleError(`No such key: ${field}`, name.range);
  return { node, asHas: `has(${pathText(owner)}.${field})` };
}

function pathText(node: ASTNode): string {
  const name = fieldName(node);
  if (name !== undefined && (node.op === '.' || node.op === '[]')) return `${pathText(node.args[0])}.${name}`;
  return node.op === 'id' ? node.args : 'request';
}

/** `request.body`, `request["body"]`, `"body" in request`, and a field that is known only at run time. */
function readsBody(node: ASTNode, place: Position): boolean {
  if (node.op === 'in') return textOf(node.args[0]) === 'body' && typeOf(node.args[1], place) === 'Request';
  if ((node.op !== '.' && node.op !== '[]') || typeOf(node.args[0], place) !== 'Request') return false;
  return (fieldName(node) ?? 'body') === 'body';
}

export function children(node: ASTNode, place: Position): (readonly [ASTNode, Position])[] {
  const comprehension = comprehensionOf(node);
  if (comprehension) {
    const loops = comprehension.macro === 'bind' ? place.loops : place.loops + 1;
    const inner = { loops, hidden: new Set(place.hidden).add(comprehension.variable) };
    return [[comprehension.over, place], ...comprehension.body.map((body) => [body, inner] as const)];
  }
  return operandsOf(node).map((operand) => [operand, place]);
}
