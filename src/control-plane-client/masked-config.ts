// Configuration without secrets: strings that came from secrets are `***`. A Sluice control plane names those strings;
// for another one only strings are masked that are secret by their field.
import { configKinds, isWritten } from '../model/kinds.ts';
import { pointerOf } from '../model/problem.ts';
import { type Configuration, listOf } from '../model/proxy-config.ts';

const mask = '***';
/** Names of fields that never hold anything else. */
const secretFields = new Set(['key', 'password', 'secret', 'token', 'clientSecret']);

/** @param pointers of strings, entities by id: `/listeners/<id>/tls/key`; undefined: not known. */
export function maskedConfig(configuration: Configuration, pointers: readonly string[] | undefined): object {
  const known = pointers === undefined ? undefined : new Set(pointers);
  return Object.fromEntries(
    configKinds
      .filter((kind) => isWritten(kind, configuration[kind]))
      .map((kind) => [
        kind,
        listOf(configuration, kind).map((each) => masked(each, pointerOf(kind, each.id), known, '')),
      ]),
  );
}

function masked(value: unknown, at: string, known: ReadonlySet<string> | undefined, field: string): unknown {
  if (typeof value === 'string') return isSecret(value, at, known, field) ? mask : value;
  if (Array.isArray(value)) return value.map((each, i) => masked(each, `${at}/${i}`, known, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, masked(each, at + pointerOf(key), known, key)]),
  );
}

const isSecret = (text: string, at: string, known: ReadonlySet<string> | undefined, field: string): boolean =>
  known?.has(at) === true || text.includes('PRIVATE KEY-----') || (known === undefined && secretFields.has(field));
