// Mappers of plugins that let in consumers alone: by keys, by passwords, by tokens, by their groups.
import { celText, closed, middleware } from '../shared/common.ts';
import { aclLabel } from './consumers.ts';
import { type Given, one, type PluginResult } from './plugin-result.ts';

export function keyAuth({ name, from, config }: Given): PluginResult {
  const [key = 'apikey', ...others] = config.texts('key_names');
  if (others.length > 0) config.notTaken('key_names', 'keys are read under the first name', 'one name');
  config.notTaken('anonymous', 'requests without a key are refused', 'a route of its own');
  for (const each of ['run_on_preflight', 'realm', 'identity_realms'])
    config.approximated(each, 'requests without a key are answered 401');
  const inHeader = config.text('key_in_header') !== 'false';
  const inQuery = config.text('key_in_query') !== 'false';
  if (config.isTrue('key_in_body')) config.notTaken('key_in_body', 'keys in bodies are not read', 'a header');
  const hides = config.isTrue('hide_credentials');
  if (!inHeader && !inQuery) return one(closed(from, `${name}-closed`));
  return one(
    middleware(from, name, 'apiKey', {
      sources: { ...(inHeader && { header: key }), ...(inQuery && { query: key }) },
      consumerHeader: 'X-Consumer-Username',
      ...(!hides && { forwardKey: true }),
    }),
  );
}

/** Groups are labels of consumers; a request without a consumer is in none. */
export function acl({ name, from, config }: Given): PluginResult | undefined {
  const [allow, deny] = [config.texts('allow'), config.texts('deny')];
  for (const key of ['hide_groups_header', 'always_use_authenticated_groups', 'include_consumer_groups'])
    config.approximated(key, 'groups are labels of consumers, and not sent upstream');
  if (allow.length + deny.length === 0) return undefined;
  const isIn = (groups: readonly string[]): string =>
    groups.map((group) => `${celText(aclLabel(group))} in consumer.labels`).join(' || ');
  const rules = [
    ...(deny.length > 0 ? [{ cel: `has(consumer.name) && (${isIn(deny)})`, action: 'deny' }] : []),
    {
      cel: allow.length > 0 ? `has(consumer.name) && (${isIn(allow)})` : 'has(consumer.name)',
      action: 'allow',
    },
  ];
  return one(middleware(from, name, 'inlineAuthz', { rules, defaultAction: 'deny' }));
}

export function basicAuth({ name, from, config, consumers }: Given): PluginResult | undefined {
  config.notTaken('anonymous', 'requests without credentials are refused', 'a route of its own');
  const hides = config.isTrue('hide_credentials');
  const realm = config.text('realm');
  if (!consumers.some(({ isUser }) => isUser)) return undefined;
  return one(
    middleware(from, name, 'basicAuth', {
      consumers: true,
      ...(realm !== undefined && { realm }),
      ...(!hides && { forwardAuthorization: true }),
    }),
  );
}

export function jwt({ name, from, config, consumers }: Given): PluginResult | undefined {
  const tokens = consumers.flatMap((each) => each.tokens);
  config.notTaken('anonymous', 'requests without a token are refused', 'a route of its own');
  for (const key of [
    'uri_param_names',
    'cookie_names',
    'header_names',
    'run_on_preflight',
    'maximum_expiration',
    'secret_is_base64',
    'key_claim_name',
  ])
    config.approximated(key, 'tokens come as Bearer in Authorization, and iss names the key');
  config.texts('claims_to_verify');
  const [only] = tokens;
  if (only === undefined || tokens.length > 1) return undefined;
  return one(middleware(from, name, 'jwt', { issuer: only.issuer, jwksInline: only.key, forwardJwt: true }));
}
