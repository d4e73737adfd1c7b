// Who may import whom (docs/architecture.md). Each rule says why, and what to do instead.
const src = (...names) => `^src/(${names.join('|')})(/|\\.ts$)`;

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'A cycle means two files are one. Move what both need into a third, or merge them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nobody-imports-tests',
      comment: 'The product must build without test/.',
      severity: 'error',
      from: { path: '^(src|raft|disk|program)/' },
      to: { path: '^test/' },
    },
    {
      name: 'raft-knows-nothing-of-sluice',
      comment: 'raft/ carries opaque bytes. Hand it what it needs through raft/index.ts.',
      severity: 'error',
      from: { path: '^raft/' },
      to: { path: '^src/|node_modules/(@nestjs|fastify|undici)' },
    },
    {
      name: 'raft-through-its-one-door',
      comment: 'src/ reaches raft/ only through raft/index.ts.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^raft/', pathNot: '^raft/index\\.ts$' },
    },
    {
      name: 'disk-is-a-leaf',
      comment: 'disk/ knows files and LevelDB, and nothing of what is kept in them: raft/ and src/ stand on it.',
      severity: 'error',
      from: { path: '^disk/' },
      to: { path: '^(src|raft)/|node_modules' },
    },
    {
      name: 'program-is-a-leaf',
      comment: 'program/ knows where files of the program are, and nothing of what they do.',
      severity: 'error',
      from: { path: '^program/' },
      to: { path: '^(src|raft|disk)/' },
    },
    {
      name: 'raft-core-is-pure',
      comment: 'raft/core has no clock, no chance, no I/O: it imports nothing but itself.',
      severity: 'error',
      from: { path: '^raft/core/' },
      to: { pathNot: '^raft/core/' },
    },
    {
      name: 'expression-is-a-leaf',
      comment: 'expression/ turns text into programs and knows no resource.',
      severity: 'error',
      from: { path: src('expression') },
      to: { path: '^src/', pathNot: src('expression') },
    },
    {
      name: 'model-is-a-leaf',
      comment: 'model/ says what a resource is. It may check expressions and nothing else.',
      severity: 'error',
      from: { path: src('model') },
      to: { path: '^src/', pathNot: src('model', 'expression') },
    },
    {
      name: 'no-framework-in-the-middle',
      comment: 'State, snapshots, feed and the data plane are plain TypeScript; Nest stays at the REST surface.',
      severity: 'error',
      from: { path: src('state', 'snapshot', 'feed', 'cluster', 'leader', 'expression', 'proxy') },
      to: { path: 'node_modules/(@nestjs|fastify|class-validator|class-transformer)' },
    },
    {
      name: 'state-knows-only-the-model',
      comment: 'What the cluster agreed on must be computable from commands alone.',
      severity: 'error',
      from: { path: src('state') },
      to: { path: '^src/', pathNot: src('state', 'model', 'errors', 'util') },
    },
    {
      name: 'snapshot-is-pure',
      comment: 'Building a configuration takes a state view and gives values. Of the settings it knows the types.',
      severity: 'error',
      from: { path: src('snapshot') },
      to: {
        path: '^src/',
        pathNot: src(
          'snapshot',
          'state/view',
          'state/command',
          'state/rollout',
          'model',
          'util/inside',
          'errors',
          'settings/control-plane-settings',
        ),
      },
    },
    {
      name: 'leader-only-proposes',
      comment:
        'What the leader does by itself follows from the agreed state and what it is handed, and ends in commands.',
      severity: 'error',
      from: { path: src('leader') },
      to: { path: '^src/', pathNot: src('leader', 'state', 'model', 'expression', 'telemetry', 'util', 'errors') },
    },
    {
      name: 'proxy-stands-alone',
      comment:
        'The data plane runs with or without a control plane: hand it a ConfigSource, and its settings as one object.',
      severity: 'error',
      from: { path: src('proxy') },
      to: {
        path: '^src/',
        pathNot: src(
          'proxy',
          'kubernetes',
          'model',
          'expression',
          'telemetry',
          'util',
          'errors',
          'settings/data-plane-settings',
        ),
      },
    },
    {
      name: 'findings-are-pure',
      comment: 'Rules look at a configuration and its table, and change nothing: hand them the time and the addresses.',
      severity: 'error',
      from: { path: src('findings') },
      to: {
        path: '^src/',
        pathNot: src('findings', 'proxy', 'model', 'expression', 'snapshot/dangling', 'util', 'errors'),
      },
    },
    {
      name: 'kubernetes-is-a-leaf',
      comment: 'kubernetes/ calls the API of a cluster and knows nothing of what is done with its objects.',
      severity: 'error',
      from: { path: src('kubernetes') },
      to: { path: '^src/', pathNot: src('kubernetes', 'telemetry', 'util') },
    },
    {
      name: 'controller-talks-to-apis',
      comment: 'The controller knows the model and two APIs. It runs apart from control plane and data plane.',
      severity: 'error',
      from: { path: src('controller') },
      to: {
        path: '^src/|node_modules/(@nestjs|fastify|classic-level)',
        pathNot: src('controller', 'kubernetes', 'model', 'expression', 'telemetry', 'settings', 'util', 'version'),
      },
    },
    {
      name: 'control-plane-client-stands-alone',
      comment: 'A proxy without a control plane loads nothing of one: what it needs comes from leaves.',
      severity: 'error',
      from: { path: src('control-plane-client') },
      to: {
        path: '^src/|node_modules/(@nestjs|fastify|class-validator|class-transformer|classic-level)',
        pathNot: src('control-plane-client', 'model', 'settings', 'telemetry', 'util', 'errors'),
      },
    },
    {
      name: 'feed-and-proxy-meet-in-main',
      comment: 'The feed knows subscribers, not proxies.',
      severity: 'error',
      from: { path: src('feed') },
      to: { path: src('proxy', 'resources', 'api') },
    },
    {
      name: 'only-api-and-main-know-resources',
      comment: 'resources/ is the REST surface; nothing below it may look up.',
      severity: 'error',
      from: { path: '^src/', pathNot: src('resources', 'api', 'main', 'control-plane') },
      to: { path: src('resources', 'api'), pathNot: src('api/browser-guard') },
    },
    {
      name: 'telemetry-sdk-only-when-on',
      comment:
        'Who traces nothing loads nothing of OpenTelemetry: import its types, or import it where traces are opened.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: 'node_modules/@opentelemetry', dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'client-stands-alone',
      comment:
        'Commands load the model and nothing of the server; what the program itself uses is loaded by command-line/checks.',
      severity: 'error',
      from: { path: '^src/command-line/', pathNot: '^src/command-line/offline/' },
      to: {
        path: '^src/|node_modules/(@nestjs|fastify|class-validator|class-transformer|classic-level)',
        pathNot: src('command-line', 'model', 'expression', 'util', 'snapshot/dangling'),
      },
    },
    {
      name: 'one-barrel',
      comment: 'raft/index.ts is the only index file: a barrel anywhere else hides who uses what.',
      severity: 'error',
      from: {},
      to: { path: '^(src|raft|disk)/.+/index\\.ts$' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
