// The few calls of the Kubernetes API that the node needs, over node:https with a bearer token.
import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';

class ApiError extends Error {
  constructor(method, path, status, body) {
    super(`${method} ${path}: ${status} ${body.slice(0, 400)}`);
    this.status = status;
  }
}

export class Api {
  #agent;
  #server;
  #token;

  constructor({ server, token, caFile }) {
    this.#server = new URL(server);
    this.#token = token;
    this.#agent = new Agent({ ca: readFileSync(caFile), keepAlive: true });
  }

  get(path) {
    return this.#call('GET', path);
  }

  post(path, body) {
    return this.#call('POST', path, body, 'application/json');
  }

  patch(path, body, type = 'application/merge-patch+json') {
    return this.#call('PATCH', path, body, type);
  }

  delete(path, body) {
    return this.#call('DELETE', path, body, 'application/json');
  }

  /** Yields 'reset' with all present objects first and after each lost watch, then one event for each change. */
  async *follow(path, signal) {
    while (!signal.aborted) {
      try {
        const list = await this.get(path);
        yield { type: 'reset', objects: list.items };
        const query = `watch=1&resourceVersion=${list.metadata.resourceVersion}&timeoutSeconds=1800`;
        for await (const event of this.#watch(`${path}?${query}`, signal)) {
          if (event.type === 'ERROR') break;
          if (event.type !== 'BOOKMARK') yield { type: event.type, object: event.object };
        }
      } catch (error) {
        if (signal.aborted) return;
        console.error(`watch ${path}: ${error.message}`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  async *#watch(path, signal) {
    const response = await this.#send('GET', path, undefined, undefined, signal);
    if (response.statusCode !== 200) throw new ApiError('GET', path, response.statusCode, await text(response));
    let rest = '';
    response.setEncoding('utf8');
    for await (const chunk of response) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) yield JSON.parse(line);
    }
  }

  async #call(method, path, body, type) {
    const response = await this.#send(method, path, body, type);
    const answered = await text(response);
    if (response.statusCode >= 300) throw new ApiError(method, path, response.statusCode, answered);
    return JSON.parse(answered);
  }

  #send(method, path, body, type, signal) {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const headers = { authorization: `Bearer ${this.#token}`, accept: 'application/json' };
    if (payload !== undefined)
      Object.assign(headers, { 'content-type': type, 'content-length': Buffer.byteLength(payload) });
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(new URL(path, this.#server), { method, headers, agent: this.#agent, signal }, resolve);
      sent.on('error', reject);
      sent.end(payload);
    });
  }
}

async function text(response) {
  response.setEncoding('utf8');
  let body = '';
  for await (const chunk of response) body += chunk;
  return body;
}
