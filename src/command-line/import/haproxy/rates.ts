// Rates of HAProxy: a table that counts requests, a rule that tracks a key in it, and one that denies above a rate. Together
// they are a middleware of type rateLimit.
import type { ImportedMiddleware } from '../intermediate.ts';
import { celText, middleware, seconds } from '../shared/common.ts';
import type { Statement } from '../statement.ts';
import type { RateLimit } from './fetches.ts';
import { millisecondsOf, type Section } from './proxy-section.ts';

interface Tracked {
  readonly table: string;
  /** Expression of the key; undefined: the address of the client. */
  readonly key: string | undefined;
  readonly from: readonly Statement[];
}

const daySeconds = 86_400;

export class Rates {
  /** Statements that limiters are made of, and the sections of their tables. */
  readonly used = new Set<Statement>();
  readonly #sections: ReadonlyMap<string, Section>;

  constructor(sections: readonly Section[]) {
    this.#sections = new Map(sections.map((each) => [each.name, each]));
  }

  /** Returns the limiter of a rule that denies above a rate; undefined where its table or its key is not known. */
  limiterOf(limit: RateLimit, rule: Statement, section: Section, name: string): ImportedMiddleware | undefined {
    const tracked = limit.counter === 'src' ? addressIn(limit.table ?? section.name) : trackedBy(limit, section);
    const table = tracked && this.#sections.get(tracked.table);
    const statement = table?.all('stick-table').at(-1);
    const [, period] = /(?:^|[ ,])http_req_rate\((\w+)\)/.exec(statement?.words.join(' ') ?? '') ?? [];
    const per = (millisecondsOf(period) ?? 0) / 1000;
    if (tracked === undefined || table === undefined || statement === undefined) return undefined;
    if (per < 1 || per > daySeconds || limit.requests < 1) return undefined;
    for (const each of [...tracked.from, statement, table.statement]) this.used.add(each);
    section.ledger.taken(...tracked.from);
    section.ledger.approximated(statement, 'a bucket that refills takes the place of a sliding window');
    section.ledger.approximated(rule, 'requests over the limit are answered 429');
    return middleware(rule, `${name}-rate`, 'rateLimit', {
      limits: [{ requests: limit.requests, per: seconds(per) }],
      ...(tracked.key !== undefined && { key: tracked.key }),
    });
  }
}

const addressIn = (table: string): Tracked => ({ table, key: undefined, from: [] });

/** Reads `http-request track-sc0 src table limits`. A condition on it, or another key, has no counterpart. */
function trackedBy({ counter, table }: RateLimit, section: Section): Tracked | undefined {
  const wanted = `track-sc${counter}`;
  const statement = [...section.all('tcp-request'), ...section.all('http-request')].find(({ words }) =>
    words.includes(wanted),
  );
  if (statement === undefined) return undefined;
  const [sample = '', ...rest] = statement.words.slice(statement.words.indexOf(wanted) + 1);
  const [word, named, ...others] = rest;
  if (others.length > 0 || (word !== undefined && word !== 'table')) return undefined;
  const [, header] = /^(?:req\.)?f?hdr\(([A-Za-z0-9_-]+)\)$/.exec(sample) ?? [];
  if (sample !== 'src' && header === undefined) return undefined;
  return {
    table: table ?? named ?? section.name,
    key: header === undefined ? undefined : `request.headers[${celText(header.toLowerCase())}]`,
    from: [statement],
  };
}
