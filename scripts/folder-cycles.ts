// No two folders need each other, directly or around a corner: then each can be read, and tested, without what is above
// it. A folder and a folder inside it are one concern, so that what they import of one another does not count.
import { dirname } from 'node:path';

/** Folders whose parts stand in an order. */
const ordered = ['src/proxy', 'src/cluster', 'raft'];

/** Modules in the form of dependency-cruiser. */
interface Module {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

interface FolderCycle {
  readonly folders: readonly string[];
  /** Example import for each pair of the folders. */
  readonly steps: readonly string[];
}

/** Edges between folders, with an example import. */
type Edges = Map<string, Map<string, string>>;

export function folderCycles(modules: readonly Module[]): FolderCycle[] {
  return ordered.flatMap((root) => cyclesIn(edgesBelow(root, modules)));
}

function edgesBelow(root: string, modules: readonly Module[]): Edges {
  const edges: Edges = new Map();
  for (const { source, dependencies } of modules) {
    const from = folderOf(root, source);
    if (from === undefined) continue;
    for (const { resolved } of dependencies) {
      const to = folderOf(root, resolved);
      if (to === undefined || contains(from, to) || contains(to, from)) continue;
      const targets = edges.get(from) ?? new Map<string, string>();
      edges.set(from, targets.set(to, `${source} -> ${resolved}`));
    }
  }
  return edges;
}

function cyclesIn(edges: Edges): FolderCycle[] {
  const reachable = new Map([...edges.keys()].map((folder) => [folder, reachedFrom(folder, edges)]));
  const seen = new Set<string>();
  const cycles: FolderCycle[] = [];
  for (const [folder, reached] of reachable) {
    if (seen.has(folder) || !reached.has(folder)) continue;
    const circle = [...reachable.keys()].filter((other) => reached.has(other) && reachable.get(other)?.has(folder));
    for (const member of circle) seen.add(member);
    const steps = circle.flatMap((from) => circle.flatMap((to) => edges.get(from)?.get(to) ?? []));
    cycles.push({ folders: circle, steps });
  }
  return cycles;
}

function reachedFrom(start: string, edges: Edges): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of edges.get(folder)?.keys() ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/** A file that lies in `root` itself stands for itself. */
function folderOf(root: string, file: string): string | undefined {
  if (!file.startsWith(`${root}/`)) return undefined;
  const folder = dirname(file);
  return folder === root ? file : folder;
}

const contains = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
