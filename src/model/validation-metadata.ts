// class-validator looks up anew, for every object, which rules its class and the parents of it have, and sorts them by
// field. Classes do not change once they are loaded, and a batch validates tens of thousands of objects: looked up once.
import { getMetadataStorage } from 'class-validator';

const storage = getMetadataStorage();
const lookUp = storage.getTargetValidationMetadatas.bind(storage);
const group = storage.groupByPropertyName.bind(storage);

type Found = ReturnType<typeof lookUp>;

/** By class and the name that class-validator asks for along with it. */
const found = new Map<unknown, Map<unknown, Found>>();
const grouped = new WeakMap<Found, ReturnType<typeof group>>();

/** To be called when a module that validates is loaded. Only look-ups as this program makes them are remembered. */
export function rememberRules(): void {
  storage.getTargetValidationMetadatas = (owner, schema, always, strictGroups, groups) => {
    if (always || strictGroups || groups !== undefined) return lookUp(owner, schema, always, strictGroups, groups);
    const known = found.get(owner) ?? new Map<unknown, Found>();
    const rules = known.get(schema) ?? lookUp(owner, schema, always, strictGroups, groups);
    found.set(owner, known.set(schema, rules));
    return rules;
  };
  storage.groupByPropertyName = (rules) => {
    const byField = grouped.get(rules) ?? group(rules);
    grouped.set(rules, byField);
    return byField;
  };
}
