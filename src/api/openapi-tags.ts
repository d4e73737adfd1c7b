// Tags of the OpenAPI document, in the order in which a newcomer needs them: an explorer shows them so. What only programs of
// Sluice ask each other comes last.
import type { OpenAPIObject } from '@nestjs/swagger';
import { editableClasses } from '../model/config-classes.ts';
import { editableKinds } from '../model/kinds.ts';

const ofKinds = Object.fromEntries(editableKinds.map((kind) => [kind, editableClasses[kind].summary]));

const descriptions = {
  ...ofKinds,
  batch: 'Several edits as one, and what is staged beside what is active.',
  snapshots: 'Captures of what is staged, and their activation.',
  activations: 'What was active when, and the way back.',
  rollouts: 'Activations in steps of clients, with guards.',
  explain: 'Proofs: which route a request takes, what a change does, what is wrong with a table.',
  requests: 'Recent requests of the whole fleet, and mirrored ones that were answered otherwise.',
  stats: 'Rates, percentiles and errors by route and destination.',
  endpoints: 'State of endpoints: health, load, drains.',
  certificates: 'Certificates in use, and when they expire.',
  'cookie-keys': 'Keys of signed session cookies, without the keys themselves.',
  keys: 'API keys, without the keys themselves.',
  events: 'One stream of all that changes.',
  health: 'This node: readiness, metrics, log level, rights of a key.',
  cluster: 'Members, leadership, backups, disks.',
  fleet: 'Proxies and how far each is.',
  docs: 'This document.',
  debug: 'What a node has in memory.',
  sync: 'Internal: between nodes and proxies of Sluice. Their shape may change with a release.',
};

export const tags: NonNullable<OpenAPIObject['tags']> = Object.entries(descriptions).map(([name, description]) => ({
  name,
  description,
}));
