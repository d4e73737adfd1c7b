// Clients that ask over and over on connections they keep, and take note of every answer that is not the right one.
import { Agent, get } from 'node:http';

export interface Load {
  readonly served: number;
  /** Why, one for each request that got no answer or a wrong one. */
  readonly failed: readonly string[];
  /** Resolves when the last answer has come. */
  stop(): Promise<void>;
}

export interface LoadOptions {
  /** Number of clients. Default 32. */
  readonly clients?: number;
  /** Milliseconds between the answer and the next request of a client. Default 5. */
  readonly pauseMs?: number;
}

/** Every answer has to be 200 with the body `expected`. */
export function startLoad(url: string, expected: string, { clients = 32, pauseMs = 5 }: LoadOptions = {}): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const failed: string[] = [];
  const state = { served: 0, active: true };
  const client = async (): Promise<void> => {
    while (state.active) {
      const answer = await ask(url, agent).catch((error: Error) => error.message);
      if (answer === `200 ${expected}`) state.served++;
      else failed.push(answer);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const ended = Promise.all(Array.from({ length: clients }, client));
  return {
    failed,
    get served() {
      return state.served;
    },
    async stop() {
      state.active = false;
      await ended;
      agent.destroy();
    },
  };
}

/** Status and body. */
function ask(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, timeout: 120_000 }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => resolve(`${response.statusCode} ${body}`)).on('error', reject);
    });
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer in 120 s')));
  });
}
