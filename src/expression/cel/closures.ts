// The evaluator: one closure per node of a checked syntax tree (expressions.md §4.2). No text is generated, nothing is
// thrown, and on plain paths nothing is allocated. Constants, patterns and paths into the input are settled here, once.
import type { ASTNode } from '@marcbachmann/cel-js';
import { compileRegex } from '../regex.ts';
import { expandedSize } from '../regex-size.ts';
import { addressFunctions } from './address-functions.ts';
import { compileComprehension } from './comprehension.ts';
import { functions, methods, type Operation } from './functions.ts';
import { askLibrary, functionShape, libraryConstant, methodShape } from './library.ts';
import { type BinaryOperator, binaryOperators } from './operators.ts';
import type { Run, Scope } from './stack-frame.ts';
import { comprehensionOf, fieldName, textOf } from './syntax.ts';
import {
  asInt,
  canWalk,
  Failure,
  isForeign,
  isPlainMap,
  keyOf,
  lookUp,
  noSuchKey,
  noSuchOverload,
  notABool,
  outOfRange,
  tooMuchWork,
  type Value,
} from './values.ts';

export function compileNode<Input>(node: ASTNode, scope: Scope<Input>): Run<Input> {
  switch (node.op) {
    case 'value':
      return constant(node.args);
    case 'id':
      return identifier(node.args, scope);
    case '.':
    case '[]':
      return access(node, scope);
    case '?:':
      return conditional(node.args, scope);
    case '&&':
      return logical(node.args, scope, false);
    case '||':
      return logical(node.args, scope, true);
    case '!_':
      return not(compileNode(node.args, scope));
    case '-_':
      return negative(compileNode(node.args, scope));
    case 'list':
      return list(node.args.map((item) => compileNode(item, scope)));
    case 'map':
      return map(node.args.map(([key, value]) => [compileNode(key, scope), compileNode(value, scope)]));
    case 'call':
      return call(node.args[0], node.args[1], scope);
    case 'rcall':
      return method(node, scope);
    case '.?':
    case '[?]':
      return () => noSuchOverload;
    default:
      return binary(node.op, node.args, scope);
  }
}

/** The path of a select that the input answers as a whole, `request.tls.peerCertificate`, or undefined. */
function pathOf<Input>(node: ASTNode, scope: Scope<Input>): string | undefined {
  const { roots, variables } = scope;
  if (node.op === 'id') return !variables.has(node.args) && roots.reads.has(node.args) ? node.args : undefined;
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const parent = pathOf(node.args[0], scope);
  const name = fieldName(node);
  const path = parent === undefined || name === undefined ? undefined : `${parent}.${name}`;
  return path !== undefined && roots.reads.has(path) ? path : undefined;
}

const constant =
  <Input>(value: Value): Run<Input> =>
  () =>
    value;

function identifier<Input>(name: string, scope: Scope<Input>): Run<Input> {
  const slot = scope.variables.get(name);
  if (slot !== undefined) return (frame) => frame.slots[slot];
  const read = scope.roots.reads.get(name);
  if (read) return ({ input }) => read(input);
  return constant(libraryConstant(name) ?? noSuchKey);
}

function access<Input>(node: ASTNode & { op: '.' | '[]' }, scope: Scope<Input>): Run<Input> {
  const peek = lookup(node, scope);
  return (frame) => {
    const value = peek(frame);
    return value === undefined ? noSuchKey : value;
  };
}

/** As access, but undefined where the key is absent. */
function lookup<Input>(node: ASTNode & { op: '.' | '[]' }, scope: Scope<Input>): Run<Input> {
  const path = pathOf(node, scope);
  const read = path === undefined ? undefined : scope.roots.reads.get(path);
  if (read) return ({ input }) => read(input);
  const owner = pathOf(node.args[0], scope);
  const keyed = owner === undefined ? undefined : scope.roots.keyed.get(owner);
  const name = fieldName(node);
  if (keyed && name !== undefined) return ({ input }) => keyed(input, name);
  const of = compileNode(node.args[0], scope);
  if (name !== undefined) return (frame) => member(of(frame), name);
  const index = node.op === '[]' ? compileNode(node.args[1], scope) : constant<Input>(noSuchKey);
  return owner !== undefined && !keyed ? dynamicField(owner, index, of, scope) : element(of, index);
}

/** `request[expression]`: the field is known only when it runs. */
function dynamicField<Input>(owner: string, index: Run<Input>, of: Run<Input>, { roots }: Scope<Input>): Run<Input> {
  const plain = element(of, index);
  return (frame) => {
    const name = index(frame);
    const read = typeof name === 'string' ? roots.reads.get(`${owner}.${name}`) : undefined;
    return read ? read(frame.input) : plain(frame);
  };
}

function member(value: Value, name: string): Value {
  if (value instanceof Failure) return value;
  return isPlainMap(value) ? lookUp(value, name) : noSuchKey;
}

function element<Input>(of: Run<Input>, index: Run<Input>): Run<Input> {
  return (frame) => {
    const value = of(frame);
    if (value instanceof Failure) return value;
    const at = index(frame);
    if (at instanceof Failure) return at;
    if (!Array.isArray(value)) return isPlainMap(value) ? lookUp(value, at) : noSuchKey;
    const whole = keyOf(at);
    if (typeof whole !== 'bigint') return noSuchOverload;
    return whole >= 0n && whole < BigInt(value.length) ? value[Number(whole)] : outOfRange;
  };
}

function conditional<Input>(nodes: readonly [ASTNode, ASTNode, ASTNode], scope: Scope<Input>): Run<Input> {
  const [condition, then, otherwise] = nodes.map((node) => compileNode(node, scope));
  if (!condition || !then || !otherwise) throw new TypeError('a conditional has three operands');
  return (frame) => {
    const chosen = condition(frame);
    if (chosen === true) return then(frame);
    if (chosen === false) return otherwise(frame);
    return chosen instanceof Failure ? chosen : notABool;
  };
}

/** `&&` is decided by a false operand on either side, `||` by a true one, even when the other operand fails. */
function logical<Input>([a, b]: readonly [ASTNode, ASTNode], scope: Scope<Input>, decides: boolean): Run<Input> {
  const left = compileNode(a, scope);
  const right = compileNode(b, scope);
  return (frame) => {
    const first = left(frame);
    if (first === decides) return decides;
    const second = right(frame);
    if (second === decides) return decides;
    if (first === !decides && second === !decides) return second;
    return first instanceof Failure ? first : second instanceof Failure ? second : notABool;
  };
}

function not<Input>(operand: Run<Input>): Run<Input> {
  return (frame) => {
    const value = operand(frame);
    if (typeof value === 'boolean') return !value;
    return value instanceof Failure ? value : noSuchOverload;
  };
}

function negative<Input>(operand: Run<Input>): Run<Input> {
  return (frame) => {
    const value = operand(frame);
    if (typeof value === 'bigint') return asInt(-value);
    if (typeof value === 'number') return -value;
    return value instanceof Failure ? value : noSuchOverload;
  };
}

function list<Input>(items: readonly Run<Input>[]): Run<Input> {
  const cost = 1 + (items.length >> 3);
  return (frame) => {
    const values: Value[] = [];
    for (const item of items) {
      const value = item(frame);
      if (value instanceof Failure) return value;
      values.push(value);
    }
    frame.steps -= cost;
    return frame.steps < 0 ? tooMuchWork : values;
  };
}

function map<Input>(entries: readonly (readonly [Run<Input>, Run<Input>])[]): Run<Input> {
  const cost = 1 + (entries.length >> 1);
  return (frame) => {
    frame.steps -= cost;
    if (frame.steps < 0) return tooMuchWork;
    const values = new Map<Value, Value>();
    for (const [keyRun, valueRun] of entries) {
      const key = keyOf(keyRun(frame));
      if (key instanceof Failure) return key;
      const value = valueRun(frame);
      if (value instanceof Failure) return value;
      values.set(key, value);
    }
    return values;
  };
}

function binary<Input>(op: string, [a, b]: readonly [ASTNode, ASTNode], scope: Scope<Input>): Run<Input> {
  const special =
    op === 'in' ? membership(a, b, scope) : op === '==' || op === '!=' ? textEquality(op, a, b, scope) : undefined;
  if (special) return special;
  const operator: BinaryOperator | undefined = binaryOperators[op];
  if (!operator) return () => noSuchOverload;
  const left = compileNode(a, scope);
  const right = compileNode(b, scope);
  return (frame) => {
    const first = left(frame);
    if (first instanceof Failure) return first;
    const second = right(frame);
    return second instanceof Failure ? second : operator(first, second, frame);
  };
}

/** The commonest condition of all: something equals a constant text. */
function textEquality<Input>(op: '==' | '!=', a: ASTNode, b: ASTNode, scope: Scope<Input>): Run<Input> | undefined {
  const text = textOf(b) ?? textOf(a);
  if (text === undefined) return undefined;
  const operand = compileNode(textOf(b) === undefined ? b : a, scope);
  const same = op === '==';
  return (frame) => {
    const value = operand(frame);
    return value instanceof Failure ? value : (value === text) === same;
  };
}

/** `in` over a constant list of texts is a set; `"x" in request` asks whether the field is there. */
function membership<Input>(a: ASTNode, b: ASTNode, scope: Scope<Input>): Run<Input> | undefined {
  const name = textOf(a);
  const owner = pathOf(b, scope);
  if (owner !== undefined && name !== undefined) {
    const read = scope.roots.reads.get(`${owner}.${name}`);
    if (read) return ({ input }) => isPresent(read(input));
    const keyed = scope.roots.keyed.get(owner);
    if (keyed) return ({ input }) => isPresent(keyed(input, name));
  }
  const texts = b.op === 'list' ? b.args.map(textOf) : [];
  if (texts.length === 0 || texts.includes(undefined)) return undefined;
  const set = new Set<Value>(texts);
  const item = compileNode(a, scope);
  return (frame) => {
    const value = item(frame);
    if (value instanceof Failure) return value;
    if (typeof value === 'string' && !canWalk(frame, value.length)) return tooMuchWork;
    return set.has(value);
  };
}

function call<Input>(name: string, args: readonly ASTNode[], scope: Scope<Input>): Run<Input> {
  if (name === 'has') return has(args[0], scope);
  if (name === 'matches') return matches(args[0], args[1], scope);
  const text = textOf(args[0]);
  // A constant address is read once.
  if (text !== undefined && (name === 'ip' || name === 'cidr') && args.length === 1)
    return constant(addressFunctions[`${name}/1`]?.run(text, undefined));
  return operation(functions[`${name}/${args.length}`], functionShape(name, args.length), args, scope);
}

function has<Input>(node: ASTNode | undefined, scope: Scope<Input>): Run<Input> {
  if (node?.op !== '.') return () => noSuchOverload;
  const peek = lookup(node, scope);
  return (frame) => isPresent(peek(frame));
}

const isPresent = (value: Value): Value => (value instanceof Failure ? value : value !== undefined);

function matches<Input>(text: ASTNode | undefined, pattern: ASTNode | undefined, scope: Scope<Input>): Run<Input> {
  const source = textOf(pattern);
  if (!text || source === undefined) return () => noSuchOverload;
  const regex = compileRegex(source);
  // A pattern that no automaton of a bounded size stands for is tried with all its parts at each character.
  const weight = 1 + (expandedSize(source) >> 5);
  const operand = compileNode(text, scope);
  return (frame) => {
    const value = operand(frame);
    if (typeof value === 'string') {
      frame.steps -= (value.length >> 3) * weight;
      return frame.steps < 0 ? tooMuchWork : regex.test(value);
    }
    return value instanceof Failure ? value : noSuchOverload;
  };
}

function method<Input>(node: ASTNode & { op: 'rcall' }, scope: Scope<Input>): Run<Input> {
  const [name, receiver, args] = node.args;
  const comprehension = comprehensionOf(node);
  if (comprehension) return compileComprehension(comprehension, scope, compileNode);
  if (name === 'matches') return matches(receiver, args[0], scope);
  const shape = methodShape(name, args.length);
  return operation(methods[`${name}/${args.length}`], shape, [receiver, ...args], scope);
}

/** A function over its arguments; the library answers what ours does not know. */
function operation<Input>(
  known: Operation | undefined,
  shape: string,
  nodes: readonly ASTNode[],
  scope: Scope<Input>,
): Run<Input> {
  const [a = absent, b = absent, c = absent, d = absent] = nodes.map((node) => compileNode(node, scope));
  const run = known ?? (() => undefined);
  return (frame) => {
    const first = a(frame);
    if (first instanceof Failure) return first;
    const second = b(frame);
    if (second instanceof Failure) return second;
    const third = c(frame);
    if (third instanceof Failure) return third;
    const fourth = d(frame);
    if (fourth instanceof Failure) return fourth;
    const result = run(first, second, third, frame, fourth);
    if (result !== undefined) return result;
    const values = [first, second, third, fourth].slice(0, nodes.length);
    return known && !values.some(isForeign) ? noSuchOverload : askLibrary(shape, values, frame);
  };
}

const absent = (): Value => undefined;
