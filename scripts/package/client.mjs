// First module of the script of the client.
export * from 'program:src/command-line/client.js';

/** Runs what most commands run, so that V8's code of it can be kept at packaging. No server is reached. */
export async function evaluateAll() {
  const { parseArguments } = await import('program:src/command-line/arguments.js');
  const { clientCommands } = await import('program:src/command-line/commands.js');
  const { Api } = await import('program:src/command-line/connection/api-client.js');
  const { columnsOf } = await import('program:src/command-line/output/entity-columns.js');
  const { table } = await import('program:src/command-line/output/text-table.js');
  await import('program:src/command-line/yaml-library.js');
  await clientCommands();
  await parseArguments(['get', 'routes', 'shop']);
  table([{ id: 'a', name: 'a', match: { path: '/' }, directResponse: { status: 200 } }], columnsOf('routes'));
  const nothing = () => undefined;
  const servers = [{ url: new URL('http://127.0.0.1:9') }];
  await new Api({ servers, timeoutMs: 1000, warn: nothing, trace: nothing, command: '' }).get('/routes').catch(nothing);
}
