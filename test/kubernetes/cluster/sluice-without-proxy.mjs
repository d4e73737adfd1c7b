// Stand-in for Sluice that serves nothing: its API takes every batch, and says that a proxy has it. With it the controller
// writes all statuses as if Gateways were served, which shows that the suite does not believe statuses alone.
//
//   SLUICE='node sluice-without-proxy.mjs' run-controller.sh
import { createServer } from 'node:http';

const path = '/api/v1';
let index = 0;

function answerTo(method, url, body) {
  if (method === 'POST' && url.startsWith(`${path}/batch`)) {
    const { operations, snapshot } = JSON.parse(body);
    if (snapshot?.activate) index++;
    return { index, results: operations.map(() => ({ etag: `"${index}"` })) };
  }
  if (url === `${path}/fleet`)
    return { proxies: [{ id: 'none', state: 'current', installed: { index }, listeners: [] }] };
  if (url.startsWith(`${path}/activations`)) return [{ index }];
  if (url.startsWith(`${path}/staged/diff`)) return { entities: { created: [], changed: [], deleted: [] } };
  return [];
}

createServer(async (request, response) => {
  const chunks = await request.toArray();
  const answer = answerTo(request.method, request.url, Buffer.concat(chunks).toString('utf8'));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}).listen(8080, '127.0.0.1');
