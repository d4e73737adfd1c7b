import type { Consumer } from '../../src/model/consumer.ts';
import { parseEntity } from '../../src/model/validation.ts';

/** Consumers as the API stores them: with hashes in the place of keys. */
export const storedConsumers = (...bodies: readonly object[]): Consumer[] =>
  bodies.map((body) => {
    const { entity, problems } = parseEntity('consumers', body);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
    return entity as unknown as Consumer;
  });

/** Consumer with API keys. */
export const keyed = (name: string, keys: readonly string[], more: object = {}): object => ({
  id: name,
  name,
  credentials: keys.map((key) => ({ type: 'apiKey', key })),
  ...more,
});
