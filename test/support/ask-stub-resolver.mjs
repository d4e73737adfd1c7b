// Loaded before everything else, in every thread of a process that is to ask a stub resolver (stub-resolver.ts).
import dns from 'node:dns/promises';
import { syncBuiltinESMExports } from 'node:module';

dns.setServers([process.env.STUB_RESOLVER]);
syncBuiltinESMExports();
