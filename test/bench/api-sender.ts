// Requests of a bench to the API of one node.
import { request } from 'undici';

export type Send = (path: string, body?: unknown, method?: 'GET' | 'POST' | 'PUT') => Promise<Record<string, unknown>>;

/** Returns a sender to the node at `url`; paths are below `/api/v1`. Rejects with status and body of a failure. */
export const senderTo =
  (url: string): Send =>
  async (path, body, method = 'POST') => {
    const response = await request(`${url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (response.statusCode >= 300) throw new Error(`${path}: ${response.statusCode} ${await response.body.text()}`);
    return (await response.body.json()) as Record<string, unknown>;
  };
