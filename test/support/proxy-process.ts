// A real proxy without a control plane of its own (`mode: proxy`), in its own process and folder.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './eventually.ts';
import { withGivenSockets } from './given-sockets.ts';
import { type Answer, call } from './http-call.ts';
import { newFolder, spawnSluice } from './sluice-process.ts';

export interface ProxyProcess {
  readonly folder: string;
  readonly storePath: string;
  readonly output: readonly string[];
  readonly child: ChildProcess;
  /** A page of its admin port. */
  admin(path: string): Promise<Answer>;
  /** Resolves when `/readyz` is 200 and the page satisfies `look`. */
  ready(look?: (page: ReadyPage) => void): Promise<ReadyPage>;
  stop(signal?: NodeJS.Signals): Promise<number | string>;
}

interface ReadyPage {
  readonly controlPlane: 'connected' | 'disconnected';
  readonly configuration: {
    readonly from: string;
    readonly ageSeconds?: number;
    readonly index: number | null;
    readonly snapshotId: string;
  };
  readonly closedListeners: readonly object[];
}

export interface ProxySetup {
  /** Kept between starts when given; a new one otherwise. */
  readonly folder?: string;
  readonly controlPlanes: readonly string[];
  /** Address of the admin port; one that the system gives otherwise. */
  readonly admin?: string;
  /** YAML below `proxy:`, two spaces in. */
  readonly proxy?: string;
  /** Further sections of the settings file. */
  readonly more?: string;
}

/** Starts one; its admin port is one that the system gives. */
export function launchProxy(setup: ProxySetup): ProxyProcess {
  const { folder = newFolder(), controlPlanes, admin: adminAddress = '127.0.0.1:0', proxy = '', more = '' } = setup;
  const storePath = join(folder, 'data-proxy');
  const file = join(folder, 'proxy.yaml');
  const urls = controlPlanes.map((url) => JSON.stringify(url)).join(', ');
  writeFileSync(
    file,
    withGivenSockets(
      `mode: proxy\nproxy:\n  controlPlaneUrls: [${urls}]\n  storePath: ${storePath}\n  workers: 1\n` +
        `  reconnectInterval: 200ms\n  admin: { address: "${adminAddress}" }\n${proxy}\nlog: { format: json }\n${more}\n`,
    ),
  );
  const child = spawnSluice(['--config', file]);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => output.push(line));
  }
  const admin = async (path: string): Promise<Answer> => await call(adminUrl(output), 'GET', path);
  return {
    folder,
    storePath,
    output,
    child,
    admin,
    ready: (look = () => undefined) =>
      eventually(async () => {
        if (child.exitCode !== null) throw new Error(`the proxy ended:\n${output.join('\n')}`);
        const { status, json, text } = await admin('/readyz');
        if (status !== 200) throw new Error(`/readyz is ${status}: ${text}\n${output.join('\n')}`);
        const page = json as ReadyPage;
        look(page);
        return page;
      }),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode ?? 0;
      child.kill(signal);
      await once(child, 'close');
      return child.exitCode ?? child.signalCode ?? 0;
    },
  };
}

function adminUrl(output: readonly string[]): string {
  const line = output.find((each) => each.includes('"the proxy runs"'));
  if (line === undefined) throw new Error(`the proxy does not run yet:\n${output.join('\n')}`);
  return `http://${(JSON.parse(line) as { address: string }).address}`;
}
