import { expect } from 'chai';
import { raftOptions } from '../../../../src/cluster/log/raft-options.ts';
import { trustWarning } from '../../../../src/cluster/node-links.ts';
import type { ControlPlaneSettings } from '../../../../src/settings/control-plane-settings.ts';
import type { RaftSettings } from '../../../../src/settings/raft-settings.ts';

const address = { host: '127.0.0.1', port: 7000 };
const tls = { cert: 'cert', key: 'key', ca: 'ca' };
const token = 'a token of sixteen characters';
const admin = { name: 'ops', key: 'an admin key of sixteen and more', role: 'admin' } as const;
const viewer = { name: 'eyes', key: 'a viewer key of sixteen and more', role: 'viewer' } as const;

function settings(raft: Partial<RaftSettings>, apiKeys: ControlPlaneSettings['apiKeys'] = []): ControlPlaneSettings {
  return {
    address: { host: '', port: 8080 },
    storePath: '/data',
    apiKeys,
    shutdownTimeoutMs: 1,
    onStorageFailure: 'serve',
    onRemoved: 'stop',
    allowedHosts: [],
    raft: {
      ...{ nodeId: 'a', bindAddress: address, advertiseAddress: address, expect: 3, autoJoin: 'learner' },
      peers: [{ nodeId: 'a', address }],
      ...raft,
    },
  };
}

const clusterOf = (of: ControlPlaneSettings) => {
  const { clusterToken, autoJoin } = raftOptions(of, '/data').cluster ?? {};
  return { clusterToken, autoJoin };
};

describe('what proves that a node is of the cluster', () => {
  it('is the token, if there is one', () => {
    const own = settings({ clusterToken: token }, [admin]);
    expect(clusterOf(own)).to.deep.equal({ clusterToken: token, autoJoin: 'learner' });
    expect(trustWarning(own)).to.equal(undefined);
  });

  it('is the first API key with the role admin, without a token', () => {
    const own = settings({}, [viewer, admin]);
    expect(clusterOf(own)).to.deep.equal({ clusterToken: admin.key, autoJoin: 'learner' });
    expect(trustWarning(own)).to.equal(undefined);
  });

  it('is the certificate with TLS and no token, API keys or not', () => {
    const own = settings({ tls }, [admin]);
    expect(clusterOf(own)).to.deep.equal({ clusterToken: undefined, autoJoin: 'learner' });
    expect(trustWarning(own)).to.equal(undefined);
  });

  it('is nothing without token, keys and TLS: then no node joins by itself, and the start says what to set', () => {
    const own = settings({});
    expect(clusterOf(own)).to.deep.equal({ clusterToken: undefined, autoJoin: 'none' });
    expect(trustWarning(own)).to.match(/no node joins by itself: set controlPlane\.raft\.clusterToken/);
  });

  it('is to be longer than a short API key, of which the start warns', () => {
    const short = { ...admin, key: 'short' };
    expect(clusterOf(settings({}, [short]))).to.deep.equal({ clusterToken: 'short', autoJoin: 'learner' });
    expect(trustWarning(settings({}, [short]))).to.match(
      /fewer than 16 characters .* set controlPlane\.raft\.clusterToken/,
    );
    expect(trustWarning(settings({ clusterToken: token }, [short]))).to.equal(undefined);
  });
});
