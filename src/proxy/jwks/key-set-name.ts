// What tells one set of fetched keys from another: the middleware that wants it, and where it comes from. Two
// configurations that are served at a time may want different ones under one id, and the same ones are fetched once.
import { createHash } from 'node:crypto';
import type { Destination } from '../../model/destination.ts';
import type { Middleware } from '../../model/middleware.ts';

/** Ids have no spaces. */
export function keySetName({ id, jwt }: Middleware, destination: Destination | undefined): string {
  const content = JSON.stringify([jwt, destination ?? null]);
  return `${id} ${createHash('sha256').update(content).digest('base64url')}`;
}

/** Of which middleware a set is. */
export const middlewareOf = (name: string): string => name.slice(0, name.indexOf(' '));

export const fetchesKeys = ({ type, jwt }: Middleware): boolean => type === 'jwt' && jwt?.jwksPath !== undefined;
