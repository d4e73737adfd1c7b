// The library for YAML, in a module of its own that is loaded by commands which need it.
export { parse, stringify } from 'yaml';
