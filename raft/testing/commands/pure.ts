// `npm run raft:pure`: quorum arithmetic and configuration changes for sets of cases written elsewhere.
import { PureOperations } from '../adapter/pure-operations.ts';
import { serve } from './json-lines.ts';

const operations = new PureOperations();
await serve((command) => operations.run(command));
