// Name of a set of fetched keys: the middleware that uses it, and its source. Two configurations that are served at a
// time may want different sets under one id, and the same set is fetched once.
import { createHash } from 'node:crypto';
import type { Destination } from '../../model/destination.ts';
import type { Middleware } from '../../model/middleware.ts';

/** Ids have no spaces. */
export function keySetName({ id, jwt }: Middleware, destination: Destination | undefined): string {
  const content = JSON.stringify([jwt, destination ?? null]);
  return `${id} ${createHash('sha256').update(content).digest('base64url')}`;
}

/** Returns the middleware of a set. */
export const middlewareOf = (name: string): string => name.slice(0, name.indexOf(' '));

export const fetchesKeys = ({ type, jwt }: Middleware): boolean => type === 'jwt' && jwt?.jwksPath !== undefined;
