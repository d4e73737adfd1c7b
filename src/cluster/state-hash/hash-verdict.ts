// Verdict on the state hashes of several nodes (raft.md A17). Pure: the same hashes give the same verdict, so all
// nodes that see the same come to the same conclusion without another question.

/** State hash by applied index. */
export type Hashes = ReadonlyMap<number, string>;

export interface HashedPeer {
  readonly nodeId: string;
  readonly votes: boolean;
  readonly hashes: Hashes;
}

export interface HashVerdict {
  /** Highest index at which this node could be compared with another; undefined when there is none. */
  readonly comparedAt: number | undefined;
  /** A majority of the voters holds one state at this index, and this node holds another. */
  readonly condemnedAt: number | undefined;
  /** Peers that hold another state than this node, each with the highest index where that shows. */
  readonly differing: readonly { readonly nodeId: string; readonly index: number }[];
}

/** @param quorum how many voters are a majority, of all that there are. Fewer than two are no evidence against this node. */
export function judge(own: Hashes, peers: readonly HashedPeer[], quorum: number): HashVerdict {
  const indexes = [...own.keys()].reverse();
  const known = (index: number): HashedPeer[] => peers.filter(({ hashes }) => hashes.has(index));
  return {
    comparedAt: indexes.find((index) => known(index).length > 0),
    condemnedAt: indexes.find((index) => {
      const others = known(index).filter(({ votes, hashes }) => votes && hashes.get(index) !== own.get(index));
      return largestGroup(others.map(({ hashes }) => hashes.get(index))) >= Math.max(2, quorum);
    }),
    differing: peers.flatMap(({ nodeId, hashes }) => {
      const common = indexes.find((index) => hashes.has(index));
      if (common === undefined || hashes.get(common) === own.get(common)) return [];
      return [{ nodeId, index: common }];
    }),
  };
}

function largestGroup(values: readonly (string | undefined)[]): number {
  return Math.max(0, ...values.map((value) => values.filter((other) => other === value).length));
}
