// Written by `npm run ui:types` from the OpenAPI document.

export interface components {
  readonly schemas: {
    readonly Activation: {
      readonly index: number;
      readonly at: string;
      readonly snapshotId: string;
      readonly name: string;
      readonly sha256: string | null;
      readonly by: string | null;
      readonly reason: 'activated' | 'rollout' | 'not confirmed' | 'rollback';
      readonly comment: string | null;
      readonly rollout: string | null;
    };
    readonly AnswersEffect: {
      readonly status: number;
      readonly kind: 'answers';
    };
    readonly ApiKey: {
      readonly id: string | null;
      readonly name: string;
      readonly role: 'admin' | 'editor' | 'viewer' | 'proxy';
      readonly source: 'settings' | 'cluster';
      readonly createdAt: string | null;
      readonly createdBy: string | null;
      readonly lastUsedAt: string | null;
    };
    readonly ChainTraffic: {
      readonly middlewareId: string;
      readonly name: string | null;
      readonly type: string;
      readonly passed: number;
      readonly rejected: number;
    };
    readonly Cluster: {
      readonly clustered: boolean;
      readonly clusterId: string | null;
      readonly leader: string | null;
      readonly term: number;
      readonly commit: number;
      readonly applied: number;
      readonly log: {
        readonly first: number;
        readonly last: number;
        readonly lastTerm: number;
      };
      readonly members: readonly (components['schemas']['Member'])[];
      readonly candidates: readonly ({
        readonly nodeId: string;
        readonly raftAddress: string;
      })[];
    };
    readonly ConfigurationDifference: {
      readonly entities: components['schemas']['EntityDifference'];
      readonly findings: {
        readonly new: readonly (components['schemas']['Finding'])[];
        readonly gone: readonly (components['schemas']['Finding'])[];
      };
      readonly routes: readonly ({
        readonly id: string;
        readonly name: string;
        readonly why: readonly (string)[];
      })[];
      readonly from: string | null;
      readonly to: string;
      readonly replay: components['schemas']['Replay'] | null;
      readonly unreachable?: readonly (string)[];
    };
    readonly CookieKey: {
      readonly id: string;
      readonly madeAt: string;
      readonly use: 'next' | 'seals' | 'opens';
    };
    readonly DirectResponseOutcome: {
      readonly status: number;
      readonly action: 'directResponse';
    };
    readonly EntityDifference: {
      readonly created: readonly ({
        readonly kind: 'listeners' | 'destinations' | 'routes' | 'groups' | 'middlewares' | 'streamRoutes' | 'consumers' | 'secrets';
        readonly id: string;
        readonly name: string;
        readonly owner?: string;
      })[];
      readonly changed: readonly ({
        readonly kind: 'listeners' | 'destinations' | 'routes' | 'groups' | 'middlewares' | 'streamRoutes' | 'consumers' | 'secrets';
        readonly id: string;
        readonly name: string;
        readonly owner?: string;
        readonly changes: readonly ({
          readonly pointer: string;
          readonly from: unknown | null;
          readonly to: unknown | null;
        })[];
      })[];
      readonly deleted: readonly ({
        readonly kind: 'listeners' | 'destinations' | 'routes' | 'groups' | 'middlewares' | 'streamRoutes' | 'consumers' | 'secrets';
        readonly id: string;
        readonly name: string;
        readonly owner?: string;
      })[];
    };
    readonly ExplainCandidate: {
      readonly route: {
        readonly id: string;
        readonly name: string;
      };
      readonly group?: {
        readonly id: string;
        readonly name: string;
      };
      readonly path: {
        readonly type: 'exact' | 'prefix' | 'regex';
        readonly value: string;
      };
      readonly priority: number;
      readonly matches: boolean;
      readonly failed?: {
        readonly matcher: 'path' | 'listener' | 'hostnames' | 'methods' | 'grpc' | 'scheme' | 'port' | 'header' | 'query' | 'cel';
        readonly wanted: string;
        readonly found: string | null;
      };
      readonly rankedBehind?: {
        readonly key: 'priority' | 'path' | 'prefixLength' | 'headers' | 'hostnames' | 'queryParams' | 'methods' | 'grpc' | 'scheme' | 'port' | 'cel' | 'membership' | 'groupName' | 'position' | 'routeName' | 'routeId';
        readonly winner: string | number;
        readonly own: string | number;
      };
    };
    readonly ExplainMiddleware: {
      readonly id: string;
      readonly name?: string;
      readonly type?: string;
      readonly runs: boolean;
      readonly because: 'always' | 'disabled' | 'skipWhen' | 'onlyWhen' | 'notReached';
      readonly expression?: string;
      readonly conditions?: readonly ({
        readonly field: 'skipWhen' | 'onlyWhen';
        readonly expression: string;
        readonly value: boolean | null;
        readonly failed?: 'error' | 'exhausted';
      })[];
      readonly effect?: components['schemas']['PassesEffect'] | components['schemas']['AnswersEffect'] | components['schemas']['UnknownEffect'];
    };
    readonly Explanation: {
      readonly request: {
        readonly method: string;
        readonly host: string;
        readonly path: string;
        readonly clientIp: string;
      };
      readonly listener: {
        readonly id: string;
        readonly name: string;
        readonly port: number;
        readonly section: string;
      } | null;
      readonly priority: number | null;
      readonly winner: {
        readonly route: {
          readonly id: string;
          readonly name: string;
        };
        readonly group?: {
          readonly id: string;
          readonly name: string;
        };
      } | null;
      readonly candidates: readonly (components['schemas']['ExplainCandidate'])[];
      readonly nearest: readonly (components['schemas']['ExplainCandidate'])[];
      readonly candidatesLeftOut: number;
      readonly middlewares: readonly (components['schemas']['ExplainMiddleware'])[];
      readonly outcome: components['schemas']['ForwardOutcome'] | components['schemas']['RedirectOutcome'] | components['schemas']['DirectResponseOutcome'] | components['schemas']['MiddlewareOutcome'] | components['schemas']['FailureOutcome'];
      readonly choice?: {
        readonly algorithm: string;
        readonly destination: string | null;
        readonly destinations: readonly ({
          readonly id: string;
          readonly weight: number;
          readonly exists: boolean;
          readonly available?: boolean;
          readonly circuit?: 'closed' | 'open' | 'half-open';
          readonly algorithm?: string;
          readonly hashed?: string;
          readonly key?: number;
          readonly cookie?: 'kept' | 'moved' | 'new' | 'unsigned' | 'elsewhere' | 'expired' | 'stale' | 'forged' | 'unkeyed';
          readonly endpoint?: string | null;
          readonly endpoints?: readonly ({
            readonly name: string;
            readonly weight: number;
            readonly priority: number;
            readonly serves: boolean;
            readonly because?: 'drained' | 'unhealthy' | 'ejected' | 'priority';
            readonly reason?: string;
          })[];
          readonly endpointsLeftOut?: number;
        } | {
          readonly directResponse: {
            readonly status: number;
          };
          readonly weight: number;
        })[];
      };
      readonly snapshot: string;
      readonly notes: readonly (string)[];
    };
    readonly FailureOutcome: {
      readonly status: number;
      readonly action: 'error';
      readonly error: string;
      readonly page?: {
        readonly of: 'route' | 'listener';
        readonly contentType: string;
      };
    };
    readonly Finding: {
      readonly kind: string;
      readonly id: string;
      readonly name: string;
      readonly pointer: string;
      readonly rule: string;
      readonly severity: 'error' | 'warning' | 'info';
      readonly message: string;
      readonly witness: components['schemas']['Witness'] | readonly (components['schemas']['Witness'])[] | null;
      readonly because: readonly ({
        readonly kind: string;
        readonly id: string;
        readonly name: string;
        readonly pointer: string;
      })[];
    };
    readonly Fleet: {
      readonly proxies: readonly (components['schemas']['FleetProxy'])[];
      readonly anonymous: number;
      readonly summary: {
        readonly total: number;
        readonly current: number;
        readonly behind: number;
        readonly refused: number;
        readonly disconnected: number;
      };
      readonly unreachableNodes: readonly (string)[];
    };
    readonly FleetProxy: {
      readonly id: string;
      readonly embedded: boolean;
      readonly labels: { readonly [name: string]: string };
      readonly version: string;
      readonly node: string;
      readonly address: string;
      readonly connectedAt: string;
      readonly lastSeen: string;
      readonly installed: {
        readonly index: number;
        readonly snapshotId: string | null;
        readonly sha256: string;
      } | null;
      readonly wanted: {
        readonly index: number;
        readonly snapshotId: string | null;
        readonly sha256: string;
      } | null;
      readonly candidate: {
        readonly index: number;
        readonly snapshotId: string | null;
        readonly sha256: string;
      } | null;
      readonly state: 'current' | 'behind' | 'refused' | 'disconnected';
      readonly problems: readonly ({
        readonly pointer: string;
        readonly message: string;
      })[];
      readonly listeners: readonly ({
        readonly id: string;
        readonly state: 'open' | 'waiting' | 'failed';
        readonly reason?: string;
      })[];
      readonly requestsPerSecond: number | null;
      readonly errorRate: number | null;
      readonly duplicate?: boolean;
    };
    readonly ForwardOutcome: {
      readonly action: 'forward';
      readonly destinations: readonly ({
        readonly id: string;
        readonly weight: number;
        readonly exists: boolean;
      } | {
        readonly directResponse: {
          readonly status: number;
        };
        readonly weight: number;
      })[];
      readonly upstream: {
        readonly method: string;
        readonly target: string;
        readonly host: string;
        readonly changes?: readonly ({
          readonly name: string;
          readonly value: string | null;
          readonly append: boolean;
        })[];
      };
    };
    readonly LogLevels: {
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly modules: {
        readonly main: 'debug' | 'info' | 'warn' | 'error';
        readonly api: 'debug' | 'info' | 'warn' | 'error';
        readonly proxy: 'debug' | 'info' | 'warn' | 'error';
        readonly raft: 'debug' | 'info' | 'warn' | 'error';
        readonly fleet: 'debug' | 'info' | 'warn' | 'error';
      };
    };
    readonly MadeApiKey: {
      readonly id: string | null;
      readonly name: string;
      readonly role: 'admin' | 'editor' | 'viewer' | 'proxy';
      readonly source: 'settings' | 'cluster';
      readonly createdAt: string | null;
      readonly createdBy: string | null;
      readonly lastUsedAt: string | null;
      readonly key: string;
    };
    readonly Member: {
      readonly nodeId: string;
      readonly incarnation: number;
      readonly role: 'leader' | 'voter' | 'learner' | 'leaving';
      readonly raftAddress: string;
      readonly apiAddress: string;
      readonly match: number | null;
      readonly lag: number | null;
      readonly healthy: boolean | null;
      readonly clockOffsetSeconds: number | null;
    };
    readonly MiddlewareOutcome: {
      readonly status: number;
      readonly action: 'middleware';
      readonly id: string;
    };
    readonly MirrorMismatch: {
      readonly node: string;
      readonly time: string;
      readonly method: string;
      readonly host: string;
      readonly path: string;
      readonly route: string;
      readonly routeId: string;
      readonly destination: string;
      readonly result: 'status' | 'headers' | 'body';
      readonly pointer: string | null;
      readonly header: string | null;
      readonly primary: {
        readonly status: number;
        readonly value: string | null;
      };
      readonly mirror: {
        readonly status: number;
        readonly value: string | null;
      };
    };
    readonly NodeDisks: {
      readonly nodeId: string;
      readonly disks: readonly ({
        readonly path: string;
        readonly freeBytes: number;
        readonly totalBytes: number;
        readonly state: 'fine' | 'low' | 'full';
      })[] | null;
      readonly problem: string | null;
    };
    readonly PassesEffect: {
      readonly kind: 'passes';
      readonly changes?: readonly ({
        readonly name: string;
        readonly value: string | null;
        readonly append: boolean;
      })[];
      readonly consumer?: {
        readonly id: string;
        readonly name: string;
      };
    };
    readonly RecentRequest: {
      readonly time: string;
      readonly method: string;
      readonly scheme: 'http' | 'https';
      readonly host: string;
      readonly path: string;
      readonly params: readonly (string)[];
      readonly query: { readonly [name: string]: string };
      readonly headers: { readonly [name: string]: string };
      readonly protocol: 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';
      readonly status: number;
      readonly listener: string;
      readonly listenerId: string;
      readonly section: string;
      readonly route: string;
      readonly routeId: string;
      readonly group: string;
      readonly destination: string;
      readonly endpoint: string;
      readonly attempts: number;
      readonly durationMs: number;
      readonly proxyMs?: number;
      readonly connectMs?: number;
      readonly firstByteMs?: number;
      readonly transferMs?: number;
      readonly snapshotIndex: number;
      readonly role: 'stable' | 'candidate';
      readonly error: string;
      readonly oneIn: number;
    };
    readonly RedirectOutcome: {
      readonly status: number;
      readonly action: 'redirect';
      readonly location: string;
    };
    readonly Replay: {
      readonly requests: number;
      readonly standsFor: number;
      readonly same: number;
      readonly moved: readonly ({
        readonly from: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly to: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly requests: number;
        readonly standsFor: number;
        readonly examples: readonly (components['schemas']['RecentRequest'])[];
      })[];
      readonly lost: readonly ({
        readonly from: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly to: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly requests: number;
        readonly standsFor: number;
        readonly examples: readonly (components['schemas']['RecentRequest'])[];
      })[];
      readonly gained: readonly ({
        readonly from: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly to: {
          readonly id: string;
          readonly name: string;
        } | null;
        readonly requests: number;
        readonly standsFor: number;
        readonly examples: readonly (components['schemas']['RecentRequest'])[];
      })[];
      readonly changed: readonly ({
        readonly route: {
          readonly id: string;
          readonly name: string;
        };
        readonly what: readonly ('middlewares' | 'destinations' | 'rewrite' | 'timeouts' | 'answer')[];
        readonly requests: number;
      })[];
      readonly undecided: readonly ({
        readonly needs: string;
        readonly requests: number;
      })[];
    };
    readonly Rollout: {
      readonly id: string;
      readonly snapshotId: string;
      readonly name: string;
      readonly sha256: string | null;
      readonly state: 'running' | 'paused' | 'completed' | 'rolledBack' | 'aborted';
      readonly activated: boolean;
      readonly step: number;
      readonly share: number;
      readonly steps: readonly (components['schemas']['RolloutStep'])[];
      readonly by: 'client' | 'proxy';
      readonly key: components['schemas']['ShareKeyRequest'];
      readonly shadowSample: number | null;
      readonly shadow: components['schemas']['ShadowFigures'] | null;
      readonly guards: readonly (string)[];
      readonly minRequests: number;
      readonly checkInterval: string;
      readonly failures: number;
      readonly onFail: 'rollback' | 'pause';
      readonly deadman: string;
      readonly maxStep: string;
      readonly comment: string | null;
      readonly startedBy: string | null;
      readonly events: readonly ({
        readonly at: string;
        readonly by: string | null;
        readonly kind: 'started' | 'step' | 'guard failed' | 'refused' | 'paused' | 'resumed' | 'promoted' | 'aborted' | 'completed' | 'rolledBack';
        readonly guard: string | null;
        readonly values: { readonly [name: string]: unknown } | null;
      })[];
    };
    readonly RolloutStep: {
      readonly share?: number;
      readonly labels?: { readonly [name: string]: string };
      readonly shadow?: components['schemas']['ShadowFigures'];
      readonly hold: string;
    };
    readonly ShadowExample: {
      readonly time: string;
      readonly method: string;
      readonly host: string;
      readonly path: string;
      readonly params: readonly (string)[];
      readonly from: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly to: {
        readonly id: string;
        readonly name: string;
      } | null;
      readonly what: readonly (string)[];
    };
    readonly ShadowFigures: {
      readonly requests: number;
      readonly same: number;
      readonly moved: number;
      readonly lost: number;
      readonly gained: number;
      readonly answersChanged: number;
      readonly rejectedMore: number;
      readonly rejectedLess: number;
      readonly undecided: number;
      readonly examples?: {
        readonly moved: readonly (components['schemas']['ShadowExample'])[];
        readonly lost: readonly (components['schemas']['ShadowExample'])[];
        readonly gained: readonly (components['schemas']['ShadowExample'])[];
        readonly answersChanged: readonly (components['schemas']['ShadowExample'])[];
        readonly rejectedMore: readonly (components['schemas']['ShadowExample'])[];
        readonly rejectedLess: readonly (components['schemas']['ShadowExample'])[];
      };
    };
    readonly ShareKeyRequest: {
      readonly clientIp?: boolean;
      readonly header?: string;
      readonly cookie?: string;
    };
    readonly SnapshotSummary: {
      readonly id: string;
      readonly name: string;
      readonly owner?: string;
      readonly labels?: { readonly [name: string]: string };
      readonly createdAt: string;
      readonly active: boolean;
      readonly confirmBy?: string;
    };
    readonly Stats: {
      readonly at: string;
      readonly since: string;
      readonly unreachableNodes: readonly (string)[];
      readonly oneIn: number;
      readonly total: {
        readonly '1s': components['schemas']['TrafficFigures'];
        readonly '10s': components['schemas']['TrafficFigures'];
        readonly '60s': components['schemas']['TrafficFigures'];
      };
      readonly routes: readonly (components['schemas']['TrafficSubject'])[];
      readonly destinations: readonly (components['schemas']['TrafficSubject'])[];
      readonly rollout?: {
        readonly id: string;
        readonly candidate: components['schemas']['VariantTraffic'];
        readonly stable: components['schemas']['VariantTraffic'];
      };
      readonly history?: readonly ({
        readonly errorRate: number;
        readonly clientErrorRate: number;
        readonly p50Ms: number | null;
        readonly p95Ms: number | null;
        readonly p99Ms: number | null;
        readonly requestsPerSecond: number;
        readonly at: string;
      })[];
    };
    readonly TrafficFigures: {
      readonly errorRate: number;
      readonly clientErrorRate: number;
      readonly p50Ms: number | null;
      readonly p95Ms: number | null;
      readonly p99Ms: number | null;
      readonly requestsPerSecond: number;
    };
    readonly TrafficSubject: {
      readonly id: string;
      readonly name: string | null;
      readonly lastHit: string | null;
      readonly windows: {
        readonly '1s': components['schemas']['TrafficFigures'];
        readonly '10s': components['schemas']['TrafficFigures'];
        readonly '60s': components['schemas']['TrafficFigures'];
      };
      readonly chain?: readonly (components['schemas']['ChainTraffic'])[];
    };
    readonly UnknownEffect: {
      readonly kind: 'unknown';
    };
    readonly VariantTraffic: {
      readonly errorRate: number;
      readonly clientErrorRate: number;
      readonly p50Ms: number | null;
      readonly p95Ms: number | null;
      readonly p99Ms: number | null;
      readonly requests: number;
    };
    readonly Witness: {
      readonly method: string;
      readonly url: string;
      readonly headers: { readonly [name: string]: string };
      readonly listener?: string;
      readonly sni?: string;
    };
  };
}
