// Key `proxy.labels`: labels of a proxy in the fleet (fleet.md §2).
import type { Key } from './key.ts';

const labelsMax = 32;
/** Limit of labels in characters, percent-encoded: a control plane reads heads of 16 KiB. Labels of ASCII always fit. */
const labelsLengthMax = 12_800;
const isVisible = (text: string): boolean => /^[\x21-\x7e\u00a1-\uffff]{1,64}$/.test(text) && text.isWellFormed();

export const proxyLabels: Key<Readonly<Record<string, string>>, ''> = {
  type: `map of texts, at most ${labelsMax}`,
  usual: '`{}`',
  meaning: `keys and values of 1 to 64 visible characters; percent-encoded at most ${labelsLengthMax.toLocaleString('en')} in all, which those of ASCII never reach`,
  unit: '',
  read(owner, name) {
    const section = owner.section(name);
    if (!section) return {};
    const labels: Record<string, string> = {};
    for (const key of section.keys()) {
      const value = section.text(key);
      if (!isVisible(key) || key === '__proto__') section.error(key, 'must have a name of 1 to 64 visible characters');
      else if (value === undefined || !isVisible(value)) section.error(key, 'must be 1 to 64 visible characters');
      else labels[key] = value;
    }
    if (section.keys().length > labelsMax) owner.error(name, `must have at most ${labelsMax} entries`);
    const encoded = Object.entries(labels).map((pair) => pair.map(encodeURIComponent).join('='));
    if (encoded.join().length > labelsLengthMax) {
      owner.error(name, `must have at most ${labelsLengthMax} characters when they are percent-encoded`);
    }
    return labels;
  },
};
