// The body that starts a progressive activation (fleet.md §7). Every field is optional.
import { commentConstraint, shortComment } from './comment.ts';
import { exactlyOneOf, has, isTrue, noneOf } from './constraint.ts';
import { parseDuration } from './duration.ts';
import { Decimal, Duration, Flag, ListOf, MapOf, Nested, OneOf, Text, Token, Uint } from './field.ts';
import { problemIf, Rules } from './rule.ts';
import { cel, text } from './scalar.ts';

export const rolloutDefaults = {
  by: 'client',
  guards: ['candidate.requests < 20.0 || candidate.errorRate <= stable.errorRate + 0.01'],
  shadowGuard: 'shadow.lost == 0.0 && shadow.rejectedLess == 0.0',
  shadowSample: 1,
  minRequests: 20,
  checkInterval: '1s',
  failures: 2,
  onFail: 'rollback',
  deadman: '60s',
  maxStep: '1h',
  hold: '30s',
} as const;

const shareMin = 0.01;

@Rules<RolloutStepRequest>(
  {
    exactlyOneChoice: ({ share, labels, shadow }) =>
      problemIf(
        [share, labels, shadow].filter((one) => one !== undefined).length !== 1 || shadow === false,
        '',
        'must have exactly one of share, labels and shadow: true',
      ),
    shareInRange: ({ share }) =>
      problemIf(share !== undefined && !(share >= shareMin && share <= 100), '/share', 'must be from 0.01 to 100'),
    labelsNamed: ({ labels }) =>
      problemIf(labels !== undefined && Object.keys(labels).length === 0, '/labels', 'must name at least one label'),
  },
  exactlyOneOf(has('share'), has('labels'), isTrue('shadow')),
  noneOf({ required: ['shadow'], properties: { shadow: { enum: [false] } } }),
  { properties: { share: { minimum: shareMin, maximum: 100 }, labels: { minProperties: 1 } } },
)
export class RolloutStepRequest {
  @Decimal('Percent of the clients, or of the proxies, 0.01 to 100.', { example: 10 })
  readonly share?: number;

  @MapOf(text, 'All proxies that have these labels, whole.')
  readonly labels?: Readonly<Record<string, string>>;

  @Flag('Serves no client: the requests that stable serves are matched against the candidate too. Before all others.')
  readonly shadow?: boolean;

  @Duration('How long the step lasts at least.', { default: rolloutDefaults.hold })
  readonly hold?: string;
}

@Rules<ShareKeyRequest>(
  {
    exactlyOneKey: ({ clientIp, header, cookie }) =>
      problemIf(
        [clientIp, header, cookie].filter((one) => one !== undefined).length !== 1 || clientIp === false,
        '',
        'must have exactly one of clientIp: true, header and cookie',
      ),
  },
  exactlyOneOf(isTrue('clientIp'), has('header'), has('cookie')),
  noneOf({ required: ['clientIp'], properties: { clientIp: { enum: [false] } } }),
)
export class ShareKeyRequest {
  @Flag('Clients with one address stay together.')
  readonly clientIp?: boolean;

  @Token('Requests with one value of this header stay together; without it the client IP counts.')
  readonly header?: string;

  @Token('Requests with one value of this cookie stay together; without it the client IP counts.')
  readonly cookie?: string;
}

@Rules<RolloutRequest>(
  {
    risingShares: ({ steps = [] }) => {
      const shares = steps.flatMap(({ share }) => (share === undefined ? [] : [share]));
      const at = shares.findIndex((share, place) => place > 0 && share <= (shares[place - 1] ?? 0));
      return problemIf(at > 0, '/steps', 'must have shares that rise strictly');
    },
    shadowFirst: ({ steps = [] }) => {
      const serving = steps.findIndex(({ shadow }) => shadow !== true);
      const late = serving < 0 ? -1 : steps.findIndex(({ shadow }, place) => place > serving && shadow === true);
      return problemIf(late >= 0, `/steps/${late}/shadow`, 'must come before all steps that serve clients');
    },
    endsWithAll: ({ steps = [] }) => {
      const at = steps.findIndex(({ share }) => share === 100);
      return problemIf(at >= 0 && at < steps.length - 1, '/steps', 'must have share 100 last');
    },
    longDeadman: ({ deadman }) =>
      problemIf(deadman !== undefined && (parseDuration(deadman) ?? 0) < 5_000, '/deadman', 'must be 5s or more'),
    checksPause: ({ checkInterval }) =>
      problemIf(
        checkInterval !== undefined && (parseDuration(checkInterval) ?? 0) < 100,
        '/checkInterval',
        'must be 100ms or more',
      ),
    shortComment,
  },
  commentConstraint,
)
export class RolloutRequest {
  @ListOf(
    RolloutStepRequest,
    'In order; share 100 is added when it is missing, unless all are shadow steps. Absent: 1 % 30 s, 10 % 1 m, 50 % 1 m.',
    {
      lengthMin: 1,
      lengthMax: 100,
    },
  )
  readonly steps?: readonly RolloutStepRequest[];

  @OneOf(['client', 'proxy'], 'What a share is of: the clients of each proxy, or the proxies.', {
    default: rolloutDefaults.by,
  })
  readonly by?: 'client' | 'proxy';

  @Nested(ShareKeyRequest, 'Which clients stay together. Absent: those with one address.')
  readonly key?: ShareKeyRequest;

  @Uint('Of the requests during a shadow step one in so many is compared.', {
    min: 1,
    max: 1_000_000,
    default: rolloutDefaults.shadowSample,
  })
  readonly shadowSample?: number;

  @ListOf(cel('guard'), 'CEL over the figures of the step; all must hold.', { lengthMax: 32 })
  readonly guards?: readonly string[];

  @Uint('No step ends before the candidate has served so many requests in it, or a shadow step compared so many.', {
    default: rolloutDefaults.minRequests,
  })
  readonly minRequests?: number;

  @Duration('How often the guards are checked.', { default: rolloutDefaults.checkInterval })
  readonly checkInterval?: string;

  @Uint('Checks in a row in which a guard is false before it counts.', { min: 1, default: rolloutDefaults.failures })
  readonly failures?: number;

  @OneOf(['rollback', 'pause'], 'What becomes of a rollout whose guard failed.', { default: rolloutDefaults.onFail })
  readonly onFail?: 'rollback' | 'pause';

  @Duration('A proxy without contact for so long serves stable alone, 5s or more.', {
    default: rolloutDefaults.deadman,
  })
  readonly deadman?: string;

  @Duration('A step that could not end by then pauses the rollout.', { default: rolloutDefaults.maxStep })
  readonly maxStep?: string;

  @Text('For those who look at the history, at most 500 characters.')
  readonly comment?: string;
}
