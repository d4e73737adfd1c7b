// Query parameters of all operations, declared once: their entries in the OpenAPI document, and bounds that query.ts enforces.
import { expressionMax } from '../expression/cel/compiled-program.ts';
import { waitTimeoutPattern, wantPattern } from '../model/pattern.ts';

/** Routes that one request for traffic may name. */
export const routeIdsMax = 200;
/** Greatest revision that can be asked for: 15 digits. */
const revisionMax = 999_999_999_999_999;

/** Query parameters by name: text and schema for the OpenAPI document. query.ts holds texts to their `maxLength`. */
export const queryParameters = {
  consistency: {
    description: '`stale` reads what this node has; the default sees every acknowledged write.',
    schema: { type: 'string', enum: ['linearizable', 'stale'], default: 'linearizable' },
  },
  minRevision: {
    description:
      'Waits until the node has applied this revision (`X-Sluice-Revision` of an earlier answer). One that the cluster ' +
      'does not have yet is refused (400).',
    schema: { type: 'integer', minimum: 0, maximum: revisionMax },
  },
  fieldValidation: {
    description: 'What becomes of unknown fields: named in a `Warning` header, refused, or dropped in silence.',
    schema: { type: 'string', enum: ['warn', 'strict', 'ignore'], default: 'warn' },
  },
  owner: { description: 'Only what this owner maintains.', schema: { type: 'string', minLength: 1 } },
  label: {
    description: 'Only what has this label: `key` or `key=value`. Given more than once, all of them.',
    schema: { type: 'string', minLength: 1 },
  },
  changedAt: {
    description: 'Adds to each secret `changedAt`: the time at which its value was set; null where it was not noted.',
    schema: { type: 'boolean', default: false },
  },
  override: {
    description: 'Leaves out the warning that another owner maintains what is changed.',
    schema: { type: 'boolean', default: false },
  },
  limit: {
    description: 'At most so many.',
    schema: { type: 'integer', minimum: 1, maximum: 10_000, default: 100 },
  },
  at: { description: 'Only what was live at this time.', schema: { type: 'string', format: 'date-time' } },
  confirmWithin: {
    description: 'How long a confirmation is waited for, 5s to 24h.',
    schema: {
      type: 'string',
      pattern: '^(([5-9]|[1-9][0-9]{1,3})s|[1-9][0-9]{0,2}m|([1-9]|1[0-9]|2[0-4])h)$',
      example: '60s',
    },
  },
  dryRun: {
    description: 'Does everything but the commit, and says what would happen.',
    schema: { type: 'boolean', default: false },
  },
  force: {
    description: 'Does it even if the cluster may lose its quorum by it; of an activation: ends a rollout first.',
    schema: { type: 'boolean', default: false },
  },
  wait: {
    description:
      'Answers when so many connected proxies have it installed: `all`, `12`, `90%`; or when one refuses it, or after ' +
      '`timeout`. The answer then has `convergence`, and its status is 200 all the same: the activation is done.',
    schema: { type: 'string', pattern: wantPattern },
  },
  timeout: {
    description: 'How long to wait at most, up to `60s`; without `wait` it says nothing.',
    schema: { type: 'string', pattern: waitTimeoutPattern, default: '5s' },
  },
  where: {
    description:
      'CEL over the fields of a request; those that match are told. `status >= 500 && route == "shop"`, ' +
      '`durationMs > 250 || error != ""`, `"page" in params`. Of what expressions of routes see, `request.method`, ' +
      '`request.scheme`, `request.host`, `request.path` and `request.headers` (the listed ones) are there too.',
    schema: { type: 'string', format: 'cel', maxLength: expressionMax },
  },
  state: {
    description:
      '`unavailable`: destinations with an endpoint that does not serve or a circuit that is not closed, and these endpoints.',
    schema: { type: 'string', enum: ['any', 'unavailable'], default: 'any' },
  },
  sort: {
    description: 'Order of routes and destinations over the last minute; `latency` is that of the 99th percentile.',
    schema: { type: 'string', enum: ['requests', 'errors', 'latency'], default: 'requests' },
  },
  routes: {
    description: `Ids of routes, up to ${routeIdsMax}, separated by commas: these alone, in this order, whether they have traffic or not.`,
    // Escaped it has to fit into the head of a request.
    schema: { type: 'string', maxLength: 16_000 },
  },
  history: {
    description: 'Adds the last 15 minutes, in steps of five seconds.',
    schema: { type: 'boolean', default: false },
  },
  chain: {
    description: 'Adds to the routes that `routes` names the middlewares of their chains, each with its runs.',
    schema: { type: 'boolean', default: false },
  },
  secrets: {
    description:
      '`resolved` shows the values of secrets, to the role admin alone (403). Without it references stand in their place, ' +
      'and `***` where there is no reference to show.',
    schema: { type: 'string', enum: ['references', 'resolved'], default: 'references' },
  },
  of: {
    description: '`staged`, `active`, or the id of a snapshot.',
    schema: { type: 'string', default: 'staged' },
  },
  failOn: {
    description: 'Refuses the snapshot (422) when it has findings of this severity, or graver ones.',
    schema: { type: 'string', enum: ['error', 'warning', 'info'] },
  },
  strict: {
    description:
      'Refuses the snapshot when a destination or route that something refers to does not exist; otherwise that is a warning.',
    schema: { type: 'boolean', default: false },
  },
} as const;
