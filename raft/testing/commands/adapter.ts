// `npm run raft:adapter`: a cluster of cores that another program drives, for scenario scripts written elsewhere.
import { Operations } from '../adapter/operations.ts';
import { serve } from './json-lines.ts';

const operations = new Operations();
await serve((command) => operations.run(command));
