// One route whose answer is a number, made live again and again: what a proxy serves says which activation it follows.
import { expect } from 'chai';
import { freePort } from './free-port.ts';
import { type CallOptions, call } from './http-call.ts';
import { pause } from './long-run.ts';
import type { ClusterNode } from './node-cluster.ts';

export const numberedRoute = (number: number) => ({
  id: 'numbered',
  name: 'numbered',
  match: { path: '/numbered' },
  directResponse: { status: 200, body: String(number) },
});

export class NumberedRoute {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  /** Creates the route with a listener of its own and activates number 0, on the proxy of the given node. */
  static async begin({ api }: ClusterNode): Promise<NumberedRoute> {
    const port = await freePort();
    await api.create('listeners', { name: 'web', address: '127.0.0.1', port });
    await api.create('routes', numberedRoute(0));
    await api.activateAs('activation-0');
    return new NumberedRoute(port);
  }

  async activate({ api }: ClusterNode, number: number): Promise<void> {
    await api.put('/routes/numbered', numberedRoute(number));
    await api.activateAs(`activation-${number}`);
  }

  /** Returns the number that the proxy of the node serves. Throws unless it answers 200. */
  async servedBy({ proxyAddress }: ClusterNode, options: CallOptions = {}): Promise<number> {
    const { status, text } = await call(`http://${proxyAddress}:${this.#port}`, 'GET', '/numbered', options);
    expect(status).to.equal(200);
    return Number(text);
  }

  /** Returns the served number; undefined while it serves nothing. */
  async servedIfAny(node: ClusterNode): Promise<number | undefined> {
    return await this.servedBy(node, { withinMs: 2_000 }).catch(() => undefined);
  }

  /**
   * Watches a node that may be killed meanwhile, and gives each time it served an older number than before. A restarted
   * node serves what it had on disk before it goes on: never less than it ever served.
   */
  async stepsBack(node: ClusterNode, isActive: () => boolean): Promise<string[]> {
    const steps: string[] = [];
    for (let last = 0; isActive(); await pause(5)) {
      const number = await this.servedIfAny(node);
      if (number !== undefined && number < last) steps.push(`${node.nodeId} served ${number} after ${last}`);
      last = Math.max(last, number ?? 0);
    }
    return steps;
  }
}
