// A Gateway of a class of ours with its listeners, the ListenerSets that it takes, and its address.
import { keyFor } from '../../kubernetes/objects.ts';
import type { Gateway } from '../gateway-api/gateway.ts';
import type { ListenerSet } from '../gateway-api/listener-set.ts';
import { findCertificate } from '../graph/certificate-references.ts';
import { type Condition, holds, isFalse, isTrue } from '../graph/condition.ts';
import type { ControllerGraph } from '../graph/controller-graph.ts';
import {
  type CertificateFacts,
  type Entity,
  type GatewayAddress,
  type GatewayFacts,
  gatewayGroup,
  type ListenerFacts,
  type ListenerSetFacts,
} from '../graph/facts.ts';
import { takesFrom } from '../graph/namespaces.ts';
import { anyAddress } from '../publish/gateway-addresses.ts';
import { listenerEntities } from '../translate/gateway-listeners.ts';
import { withConflicts } from './conflicts.ts';
import { type ListenerSpec, resolveListener } from './listener-facts.ts';
import { withinLimits } from './listeners-beyond-limits.ts';
import { type ProxyService, proxyService } from './proxy-service.ts';

/** Returns the facts of a Gateway; undefined when there is none of that name, or it is of another controller. */
export function gatewayFacts(graph: ControllerGraph, namespace: string, name: string): GatewayFacts | undefined {
  const { store } = graph;
  const gateway = store.read('Gateway', namespace, name);
  if (gateway === undefined || !graph.isOwnClass(gateway.spec.gatewayClassName)) return undefined;
  const { spec, metadata } = gateway;
  const parent = { kind: 'Gateway', namespace, name } as const;
  const service = proxyService(graph);
  const frame = { graph, gateway: { namespace, name }, frontend: spec.tls?.frontend, service };
  const own = spec.listeners.map((listener) => resolveListener({ ...frame, parent }, listener as ListenerSpec));
  const sets = setsOf(graph, gateway).map((set) => ({
    set,
    isTaken: takesSet(graph, gateway, set),
    listeners: set.spec.listeners.map((listener) =>
      resolveListener({ ...frame, parent: parentOf(set) }, listener as ListenerSpec),
    ),
  }));
  const taken = sets.filter(({ isTaken }) => isTaken);
  const resolved = [...own, ...taken.flatMap(({ listeners }) => listeners)];
  const judged = withinLimits(withConflicts(resolved.map(({ facts }) => facts)));
  const byId = new Map(judged.map((facts) => [facts.id, facts]));
  const listeners = own.map(({ facts }) => byId.get(facts.id) ?? facts);
  const certificate = backendCertificateOf(graph, gateway);
  const { addresses, publicAddresses, obstacle, refusal } =
    service === undefined ? addressesOf(graph, gateway) : addressesBy(service, gateway);
  const parameters = spec.infrastructure?.parametersRef;
  const unfit =
    refusal ??
    (parameters && isFalse('Accepted', 'InvalidParameters', `parameters of kind ${parameters.kind} are not known`));
  const facts = {
    key: keyFor(namespace, name),
    namespace,
    name,
    generation: metadata.generation ?? 0,
    conditions: [unfit ?? acceptedOf(listeners), ...certificate.conditions, ...frontendConditions(gateway)],
    addresses,
    publicAddresses,
    obstacle,
    listeners: unfit === undefined ? listeners : listeners.map((each) => ({ ...each, isServing: false })),
    sets: sets.map(({ set, isTaken, listeners: ofSet }) =>
      setFacts(
        set,
        isTaken,
        ofSet.map((each) => byId.get(each.facts.id) ?? each.facts),
        unfit,
      ),
    ),
    backendCertificate: certificate.found,
    entities: [] as readonly Entity[],
  };
  const secrets = resolved.filter(({ facts: { id } }) => byId.get(id)?.isServing).flatMap(({ entities }) => entities);
  return { ...facts, entities: [...listenerEntities(facts), ...secrets, ...certificate.entities] };
}

const parentOf = ({ metadata }: ListenerSet) =>
  ({ kind: 'ListenerSet', namespace: metadata.namespace ?? '', name: metadata.name }) as const;

/** Returns the ListenerSets that name the Gateway, oldest first. */
function setsOf({ store }: ControllerGraph, { metadata: { namespace, name } }: Gateway): ListenerSet[] {
  const age = ({ metadata }: ListenerSet): string =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return store
    .members('ListenerSet', `gateway:${keyFor(namespace, name)}`)
    .filter(
      ({ spec: { parentRef } }) =>
        (parentRef.kind ?? 'Gateway') === 'Gateway' && (parentRef.group ?? gatewayGroup) === gatewayGroup,
    )
    .sort((a, b) => (age(a) < age(b) ? -1 : 1));
}

function takesSet({ store }: ControllerGraph, { spec, metadata }: Gateway, set: ListenerSet): boolean {
  const allowed = spec.allowedListeners?.namespaces ?? { from: 'None' };
  return takesFrom(store, allowed, metadata.namespace ?? '', set.metadata.namespace ?? '');
}

function acceptedOf(listeners: readonly ListenerFacts[]): Condition {
  const valid = listeners.filter(({ conditions }) => holds(conditions, 'Accepted')).length;
  if (valid === listeners.length) return isTrue('Accepted');
  const message = `${listeners.length - valid} of ${listeners.length} listeners are not valid`;
  return valid === 0 && listeners.length > 0
    ? isFalse('Accepted', 'ListenersNotValid', message)
    : isTrue('Accepted', 'ListenersNotValid', message);
}

function setFacts(
  set: ListenerSet,
  isTaken: boolean,
  listeners: readonly ListenerFacts[],
  unfit: Condition | undefined,
): ListenerSetFacts {
  const parent = parentOf(set);
  const refused = (reason: string, message: string): ListenerSetFacts => ({
    parent,
    accepted: isFalse('Accepted', reason, message),
    listeners: listeners.map((each) => ({ ...each, isServing: false })),
  });
  if (!isTaken)
    return { ...refused('NotAllowed', 'the Gateway takes no ListenerSets of this namespace'), listeners: [] };
  if (unfit !== undefined) return refused('ParentNotAccepted', 'the Gateway is not accepted');
  const valid = listeners.filter(({ isServing }) => isServing).length;
  if (valid === 0) return refused('ListenersNotValid', 'no listener is valid');
  const message =
    valid === listeners.length ? '' : `${listeners.length - valid} of ${listeners.length} listeners are not valid`;
  const reason = valid === listeners.length ? 'Accepted' : 'ListenersNotValid';
  return { parent, accepted: isTrue('Accepted', reason, message), listeners };
}

function backendCertificateOf(graph: ControllerGraph, { spec, metadata }: Gateway) {
  const reference = spec.tls?.backend?.clientCertificateRef;
  const nothing: { found: CertificateFacts | undefined; conditions: Condition[]; entities: readonly Entity[] } = {
    found: undefined,
    conditions: [],
    entities: [],
  };
  if (reference === undefined) return nothing;
  const from = { group: gatewayGroup, kind: 'Gateway', namespace: metadata.namespace ?? '' };
  const { found, fault } = findCertificate(graph, from, reference, 'InvalidClientCertificateRef');
  if (fault !== undefined) return { ...nothing, conditions: [isFalse('ResolvedRefs', fault.reason, fault.message)] };
  return { found: found.certificate, conditions: [isTrue('ResolvedRefs')], entities: found.entities };
}

function frontendConditions({ spec }: Gateway): Condition[] {
  const { default: byDefault, perPort = [] } = spec.tls?.frontend ?? {};
  const modes = [byDefault?.validation?.mode, ...perPort.map(({ tls }) => tls.validation?.mode)];
  if (!modes.includes('AllowInsecureFallback')) return [];
  const message = 'connections without a valid client certificate are accepted';
  return [isTrue('InsecureFrontendValidationMode', 'ConfigurationChanged', message)];
}

interface AddressFacts {
  readonly addresses: readonly string[];
  readonly publicAddresses: readonly GatewayAddress[];
  readonly obstacle: Condition | undefined;
  readonly refusal: Condition | undefined;
}

const noAddress = { addresses: [], publicAddresses: [], obstacle: undefined, refusal: undefined };

const notProgrammed = (reason: string, message: string): AddressFacts => ({
  ...noAddress,
  obstacle: isFalse('Programmed', reason, message),
});

/** Address of the Gateway as it was assigned (publish/addresses.ts), and what speaks against the ones that it asks for. */
function addressesOf(graph: ControllerGraph, { spec, metadata }: Gateway): AddressFacts {
  const foreign = (spec.addresses ?? []).find(({ type }) => (type ?? 'IPAddress') !== 'IPAddress');
  if (foreign !== undefined) return unsupported(foreign.type);
  const assigned = graph.assignment(keyFor(metadata.namespace, metadata.name));
  if (assigned === undefined) return notProgrammed('AddressNotAssigned', 'no address is assigned yet');
  if (assigned.unusable !== undefined) return notProgrammed('AddressNotUsable', `${assigned.unusable} cannot be used`);
  const publicAddresses = assigned.addresses.map((value) => ({ type: 'IPAddress', value }) as const);
  return { ...noAddress, addresses: assigned.addresses, publicAddresses };
}

/** Addresses of the Service by which clients reach the proxies, which listen on all of their own. */
function addressesBy({ key, addresses: publicAddresses }: ProxyService, { spec }: Gateway): AddressFacts {
  const asked = (spec.addresses ?? []).map(({ type = 'IPAddress', value = '' }) => ({ type, value }));
  const foreign = asked.find(({ type }) => type !== 'IPAddress' && type !== 'Hostname');
  if (foreign !== undefined) return unsupported(foreign.type);
  const addresses = [anyAddress];
  if (publicAddresses.length === 0)
    return { ...notProgrammed('AddressNotAssigned', `Service ${key} has no address yet`), addresses };
  const other = asked.find(
    ({ type, value }) => value !== '' && !publicAddresses.some((each) => each.type === type && each.value === value),
  );
  if (other !== undefined) return notProgrammed('AddressNotUsable', `${other.value} is no address of Service ${key}`);
  return { ...noAddress, addresses, publicAddresses };
}

const unsupported = (type: string): AddressFacts => ({
  ...noAddress,
  refusal: isFalse('Accepted', 'UnsupportedAddress', `addresses of type ${type} are not supported`),
});
