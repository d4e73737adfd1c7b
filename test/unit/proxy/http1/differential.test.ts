// Comparison with Node's own parser: it accepts all that our codec accepts, and reads the same. SEED picks other
// streams and RUNS more of them. Deliberate differences are named below; the reverse ones are in request-smuggling.
import { expect } from 'chai';
import { type Message, type Reading, readRequests, readResponses } from '../../../support/http1-reader.ts';
import { mutated, seededRandom } from '../../../support/mutation.ts';
import { knownMethods, nodeReading } from '../../../support/node-parser.ts';
import { refusedBodies, refusedRequests } from '../../../support/refused-requests.ts';
import { refusedResponses } from '../../../support/refused-responses.ts';

const seed = Number(process.env.SEED ?? 1);
const runs = Number(process.env.RUNS ?? 6_000);

const goodRequests = [
  'GET /a?b=c HTTP/1.1\r\nHost: x\r\nUser-Agent: t\r\nAccept: */*\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\nHost: x\r\n\r\n',
  'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n',
  'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.1\r\nHost: y:80\r\nConnection: close\r\n\r\n',
  'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n',
];

const goodResponses = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: t\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a="b c"\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-T: 1\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n',
  'HTTP/1.0 200 OK\r\nX: y\r\n\r\nuntil the end',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n',
];

const buffers = (texts: readonly string[]): Buffer[] => texts.map((text) => Buffer.from(text, 'latin1'));
const vectors = (list: readonly (readonly [string, string])[]): string[] =>
  list.map(([, text]) => text).filter((text) => text.length < 1_000);

describe('the codec beside Node’s own parser', () => {
  it(`reads no request that Node reads otherwise (SEED=${seed} RUNS=${runs})`, function () {
    this.timeout(runs * 10 + 60_000);
    const streams = buffers([...goodRequests, ...goodRequests, ...vectors([...refusedRequests, ...refusedBodies])]);
    compareAll('requests', streams, (bytes, cuts) => readRequests(bytes, cuts));
  });

  it(`reads no response that Node reads otherwise (SEED=${seed} RUNS=${runs})`, function () {
    this.timeout(runs * 10 + 60_000);
    const streams = buffers([...goodResponses, ...goodResponses, ...vectors(refusedResponses)]);
    compareAll('responses', streams, (bytes, cuts) => readResponses(bytes, cuts));
  });
});

/** Node takes blanks before the semicolon of a chunk extension alone, RFC 9112 §7.1.1 around its parts too. */
const blankInExtension = /\n[\da-f]+[^\r\n]*([;=][ \t]|[ \t]=|[^\da-f][ \t]+;)/i;

function compareAll(
  kind: 'requests' | 'responses',
  streams: Buffer[],
  read: (bytes: Buffer, cuts: number[]) => Reading,
): void {
  const random = seededRandom(seed);
  let accepted = 0;
  for (let run = 0; run < runs; run++) {
    const bytes = mutated(streams, random);
    if (blankInExtension.test(bytes.toString('latin1'))) continue;
    const cuts = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * bytes.length));
    const ours = comparable(kind, read(bytes, cuts).messages);
    if (ours.length === 0) continue;
    const theirs = nodeReading(kind, Buffer.from(bytes)).messages;
    ours.forEach((message, i) => {
      expect(theirs[i], JSON.stringify({ seed, run, bytes: bytes.toString('latin1') })).to.deep.equal(message);
    });
    accepted += ours.length;
  }
  expect(accepted).to.be.greaterThan(runs / 25);
}

/**
 * Up to where both can be compared. Ours takes any token as a method, as RFC 9110 §9.1 asks, where Node knows a list;
 * Node stops behind every Upgrade, ours only where there can be one: a request with a body is not upgraded.
 */
function comparable(kind: 'requests' | 'responses', messages: readonly Message[]): readonly Message[] {
  if (kind === 'responses') return messages;
  const unknown = messages.findIndex(({ start }) => !knownMethods.has(start.split(' ')[0] ?? ''));
  const upgrading = messages.findIndex(({ fields }) => fields.some((line) => /^upgrade:/i.test(line)));
  const end = Math.min(unknown < 0 ? messages.length : unknown, upgrading < 0 ? messages.length : upgrading + 1);
  return messages.slice(0, end);
}
