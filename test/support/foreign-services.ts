// Services in another language behind a middleware: what the tests of both protocols do with them alike.
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { ForeignProgram, python, pythonScript } from './foreign-program.ts';
import type { Answer, Ask, MiddlewareBed } from './middleware-bed.ts';

// A machine may be so busy that an answer takes long: only who is to wait in vain waits for little.
export const patient = '60s';
export const impatient = '500ms';
const isHanging = 'request.headers["x-want"].startsWith("hang")';
/** Overrides for a route with one middleware twice: m0 is impatient and takes the requests that hang, m1 is patient and takes the others. */
export const byPatience = { middlewareOverrides: { m0: { onlyWhen: [isHanging] }, m1: { skipWhen: [isHanging] } } };

/** A script of test/python that prints its ports. */
export class ForeignService {
  readonly #script: string;
  #program: ForeignProgram | undefined;

  constructor(script: string) {
    this.#script = script;
  }

  /** Returns its ports. Starts it again when it ends at once: another process may have taken a port meanwhile. */
  start(...args: string[]): Promise<readonly number[]> {
    return eventually(() => {
      if (this.#program === undefined || this.#program.hasEnded) {
        this.#program = new ForeignProgram(python, [pythonScript(this.#script), ...args]);
      }
      const [ports] = this.#program.lines;
      expect(ports).to.be.a('string');
      return ports!.split(' ').map(Number);
    });
  }

  async stop(): Promise<void> {
    await this.#program?.stop();
  }
}

/** Returns a client that tells the service in `x-want` what to do. */
export const asking =
  (bed: () => MiddlewareBed) =>
  (want: string, rest: Ask = {}): Promise<Answer> =>
    bed().ask({ ...rest, headers: { 'x-want': want, ...rest.headers } });

/** Expects that other requests are served while some fail as `failing` does. */
export async function besides(ask: (want: string) => Promise<Answer>, failing: () => Promise<Answer>): Promise<Answer> {
  const others = Promise.all(Array.from({ length: 20 }, () => ask('')));
  const answer = await failing();
  expect((await others).map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
  expect((await ask('')).status).to.equal(200);
  return answer;
}
