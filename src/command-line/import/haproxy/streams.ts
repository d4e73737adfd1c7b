// Frontends of HAProxy in mode tcp as stream routes.
import type { ImportedConfig, ModelFields } from '../intermediate.ts';
import type { Statement } from '../statement.ts';
import { accessLists, conditioned, isCondition } from './access-lists.ts';
import { type Backend, destinationOf } from './backends.ts';
import type { Term } from './fetches.ts';
import type { Section } from './proxy-section.ts';

type StreamRoute = NonNullable<ImportedConfig['streamRoutes']>[number];
type Draft = Omit<StreamRoute, 'listeners'>;

/** Stream routes of a frontend; none where a rule keeps out connections that they would let in. */
export function streamRoutesOf(section: Section, backends: ReadonlyMap<string, Backend>): Draft[] {
  const { ledger, name } = section;
  const lists = accessLists(section);
  if (isGuarded(section)) return [];
  const to = (target: string, from: Statement, match: ModelFields, backend: Backend | undefined): Draft[] => {
    const isOpen = backend?.isTcp === true && (backend === section || !isGuarded(backend));
    const found = isOpen ? destinationOf(backend) : undefined;
    if (found === undefined) {
      ledger.notTaken(
        from,
        'it leads to no backend of mode tcp that is taken; its connections are closed',
        'a stream route',
      );
      return [];
    }
    ledger.taken(from);
    const idle = section.timeout('client');
    const fields = idle === undefined ? {} : { fields: { timeouts: { idle } } };
    return [{ name: `${name}-${target}`, from, match, shares: [{ destination: found }], ...fields }];
  };
  const chosen = section.all('use_backend').flatMap((statement): Draft[] => {
    const { words, condition } = conditioned(statement, lists);
    const [target = ''] = words;
    const matches = isCondition(condition) ? condition.map(matchOf) : [undefined];
    if (matches.some((each) => each === undefined)) {
      ledger.notTaken(
        statement,
        'connections are told apart by server name and address alone',
        'match of a stream route',
      );
      return [];
    }
    return matches.flatMap((match) => to(target, statement, match ?? {}, backends.get(target)));
  });
  if (section.statement.key === 'listen' && section.own('server').length > 0)
    return [...chosen, ...to(name, section.statement, {}, section)];
  const usual = section.one('default_backend');
  const target = usual?.words[0] ?? '';
  return usual === undefined ? chosen : [...chosen, ...to(target, usual, {}, backends.get(target))];
}

/** Marks the rules of connections; true where one of them lets only some pass. */
function isGuarded(section: Section): boolean {
  const rules = ['tcp-request', 'tcp-response'].flatMap((key) => section.all(key));
  const guards = rules.filter(({ words }) => words.some((each) => /^(reject|silent-drop|expect-proxy)$/.test(each)));
  for (const each of rules)
    if (guards.includes(each))
      section.ledger.notTaken(
        each,
        'connections are not refused by rules; its connections are closed',
        'match.clientCidrs of a stream route',
      );
    else section.ledger.approximated(each, 'the ClientHello is waited for by itself');
  return guards.length > 0;
}

function matchOf(terms: readonly Term[]): ModelFields | undefined {
  const [sni, cidrs] = [
    terms.filter((each) => each.sni !== undefined),
    terms.filter((each) => each.cidrs !== undefined),
  ];
  const isWhole = sni.length + cidrs.length === terms.length && sni.length < 2 && cidrs.length < 2;
  if (!isWhole || terms.some(({ isNegated }) => isNegated === true)) return undefined;
  return {
    ...(sni[0]?.sni !== undefined && { sni: sni[0].sni }),
    ...(cidrs[0]?.cidrs !== undefined && { clientCidrs: cidrs[0].cidrs }),
  };
}
