// Assets of the executable: bytes that Node's single executable carries behind its own code, each with its SHA-256.
import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { getAsset, getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import type { Manifest } from './contents.ts';

interface AssetList {
  readonly manifest: Manifest;
  /** SHA-256 of each asset but this list, in hexadecimal. */
  readonly sha256: Readonly<Record<string, string>>;
}

type Run = (module: { exports: unknown }, exports: unknown, require: (name: string) => unknown) => void;

let list: AssetList | undefined;

export const assets = (): AssetList => (list ??= readList());

function readList(): AssetList {
  try {
    return JSON.parse(getAsset('assets.json', 'utf8')) as AssetList;
  } catch {
    throw damaged('assets.json');
  }
}

const damaged = (name: string) =>
  new Error(`this executable is damaged (${name} is not what was built): install it again`);

/** Returns the bytes of an asset, which lie in the executable itself: they are read, never written. */
export function assetBytes(name: string): Uint8Array {
  const bytes = new Uint8Array(getRawAsset(name) as ArrayBuffer);
  if (createHash('sha256').update(bytes).digest('hex') === assets().sha256[name]) return bytes;
  throw damaged(name);
}

/** Returns the exports of a script among the assets. */
export const runScript = (name: string): unknown => evaluate(compile(name));

/** Compiles a script. V8 takes the code that it compiled at packaging, where its version and flags are still the same. */
export function compile(name: string): Script {
  const code = `${name}.code`;
  const cachedData = code in assets().sha256 ? assetBytes(code) : undefined;
  return new Script(textOf(assetBytes(`${name}.cjs`)), {
    filename: `sluice:${name}`,
    ...(cachedData && { cachedData }),
  });
}

export function evaluate(script: Script): unknown {
  const module: { exports: unknown } = { exports: {} };
  (script.runInThisContext() as Run)(module, module.exports, builtin);
  return module.exports;
}

/** A text of one byte a character takes half the memory and is scanned faster. */
function textOf(bytes: Uint8Array): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.toString(isAscii(view) ? 'latin1' : 'utf8');
}

/** Stands for `require`: all that is no part of a script is part of Node. */
function builtin(name: string): unknown {
  const found = process.getBuiltinModule(name);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' });
}
