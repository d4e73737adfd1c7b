// Frames of upstreams, right and nearly right: they end streams or their connection, and nothing else. A closed stream
// emits no further event.
import {
  block,
  END_HEADERS,
  END_STREAM,
  frame,
  PADDED,
  request,
  settings,
  uint32,
  WHOLE,
} from '../../support/http2-frames.ts';
import { SessionBed } from '../../support/http2-session.ts';
import { seededRandom } from '../../support/mutation.ts';
import { damaged, shuffled } from './damage.ts';
import { type FuzzRun, seedOf } from './findings.ts';

const good = [
  settings(3, 50),
  frame('HEADERS', END_HEADERS, 1, block([':status', '200'], ['content-length', '5'])),
  frame('DATA', END_STREAM, 1, Buffer.from('hello')),
  frame('HEADERS', END_HEADERS, 3, block([':status', '103'], ['link', 'x'])),
  frame('HEADERS', END_HEADERS, 3, block([':status', '200'])),
  frame('DATA', PADDED, 3, Buffer.from([1, 65, 0])),
  frame('HEADERS', WHOLE, 3, block(['grpc-status', '0'])),
  frame('RST_STREAM', 0, 5, uint32(7)),
  frame('WINDOW_UPDATE', 0, 7, uint32(100)),
  frame('GOAWAY', 0, 0, Buffer.concat([uint32(5), uint32(0)])),
  frame('PING', 0, 0, Buffer.alloc(8)),
  frame('PUSH_PROMISE', 4, 1, Buffer.concat([uint32(2), request()])),
];

/** `looked`: frames. */
export function fuzzResponses(seed: number, run: number): FuzzRun & { readonly ended: number } {
  const random = seededRandom(seedOf(seed, run));
  const bed = new SessionBed({ server: false, streamWindow: 131_072 });
  for (let i = 0; i < 4; i++) {
    const stream = bed.session.request();
    if (stream === undefined) continue;
    stream.receiver = bed;
    bed.encoder.begin();
    bed.encoder.request('POST', 'http', 'x', '/');
    stream.sendHead(bed.encoder, i === 0);
  }
  bed.takes = random() < 0.8;
  const frames = shuffled(good, random).map((bytes) => (random() < 0.3 ? damaged(bytes, random) : bytes));
  bed.arrive(Buffer.concat(frames), 1 + Math.floor(random() * 60));
  const looked = frames.length;
  const shown = frames.map((bytes) => bytes.toString('hex')).join(' ');
  let ended = 0;
  for (const { flags, type } of bed.frames()) {
    if (type === 'PUSH_PROMISE' || flags > 0x2d) return { looked, ended, finding: `${type} ${flags} left: ${shown}` };
  }
  // Nothing is heard of a stream that was reset, nor a body behind its end.
  for (const id of [1, 3, 5, 7]) {
    const heard = bed.heard.filter((event) => event.startsWith(`${id} `)).map((event) => event.split(' ')[1]);
    const told = heard.findIndex((event) => event === 'end' || event === 'reset');
    const behind = told < 0 ? [] : heard.slice(told + 1);
    if (told >= 0) ended++;
    if (behind.length === 0 || (heard[told] === 'end' && behind.join() === 'reset')) continue;
    return { looked, ended, finding: `${bed.heard.join(', ')}: ${shown}` };
  }
  return { looked, ended, finding: undefined };
}
