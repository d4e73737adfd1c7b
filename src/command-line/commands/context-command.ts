// `context …`, `login`: clusters by name.
import type { WhoAmI } from '../../model/answers/who-am-i.ts';
import { command } from '../command-declaration.ts';
import type { Session } from '../command-session.ts';
import { Api } from '../connection/api-client.ts';
import { connectionOf, serversOf, serverUrl } from '../connection/connection.ts';
import {
  type ConnectionContext,
  type Contexts,
  contextNamed,
  contextsFile,
  readContexts,
  writeContexts,
} from '../connection/context-file.ts';
import { apiKeyOf } from '../connection/credentials.ts';
import { exitCodes, wrongUsage } from '../exit.ts';
import { show } from '../output/form.ts';

export const contextList = command({
  words: 'context',
  brief: 'List the contexts',
  text: 'A context names a cluster: servers, certificates and key. They are in `~/.config/sluice/contexts.yaml`, mode 0600.',
  isLocal: true,
  hasForms: true,
  async run(session) {
    const { contexts, current } = await readContexts();
    await show(session.terminal, session.form, {
      items: contexts.map(({ apiKey, ...each }) => ({
        ...each,
        current: each.name === current,
        ...(apiKey && { apiKey: '***' }),
      })),
      columns: [
        { title: 'context', cell: ({ name }) => name },
        { title: 'current', cell: (each) => (each.current ? 'yes' : '') },
        { title: 'servers', cell: ({ servers }) => servers.join(' ') },
        { title: 'key', cell: (each) => ('apiKey' in each ? 'stored' : (each.keyCommand ?? each.apiKeyFile ?? '')) },
      ],
      nameOf: ({ name }) => name,
      empty: `no contexts in ${contextsFile()}; sluice login writes one`,
    });
    return exitCodes.done;
  },
});

const name = { name: 'NAME', brief: 'Name of the context' } as const;

export const contextUse = command({
  words: 'context use',
  brief: 'Make a context the current one',
  arguments: [name],
  isLocal: true,
  async run(session, [chosen = '']) {
    const contexts = await readContexts();
    contextNamed(contexts, chosen);
    writeContexts({ ...contexts, current: chosen });
    session.terminal.note(`context   ${chosen}`);
    return exitCodes.done;
  },
});

const keyCommand = { kind: 'text', value: 'COMMAND', brief: 'Command of the shell that prints the key' } as const;

export const contextSet = command({
  words: 'context set',
  brief: 'Write a context from --server, --ca, --cert, --key, --api-key-file',
  text: 'The key itself is not stored: `--api-key-file` and `--key-command` say where it is. The first context is the current one.',
  arguments: [name],
  flags: { keyCommand },
  isLocal: true,
  examples: [
    {
      line: "sluice context set prod --server https://node-1:8080 --key-command 'pass show sluice'",
      does: 'writes the context prod',
    },
  ],
  async run(session, [chosen = ''], given) {
    const contexts = await readContexts();
    if (session.options.server.length === 0) throw wrongUsage('context set needs --server URL');
    store(contexts, contextFrom(session, chosen, given.keyCommand));
    session.terminal.note(`context   ${chosen} in ${contextsFile()}`);
    return exitCodes.done;
  },
});

export const contextDelete = command({
  words: 'context delete',
  brief: 'Delete a context',
  arguments: [name],
  isLocal: true,
  async run(session, [chosen = '']) {
    const { contexts, current } = await readContexts();
    contextNamed({ contexts }, chosen);
    writeContexts({
      ...(current !== chosen && current !== undefined && { current }),
      contexts: contexts.filter((each) => each.name !== chosen),
    });
    session.terminal.note(`deleted   context ${chosen}`);
    return exitCodes.done;
  },
});

export const loginCommand = command({
  words: 'login',
  brief: 'Try servers and key, and store them as a context',
  text: `The key comes from \`--api-key-file\`, \`--key-command\`, SLUICE_API_KEY, or is asked for. It is stored in the file of contexts, mode 0600,
unless it comes from a file or a command. A context that is there already keeps its servers and certificates where others are not given.`,
  arguments: [{ ...name, optional: true, brief: 'Name of the context; default: default' }],
  flags: { keyCommand },
  examples: [
    { line: 'sluice login prod --server https://node-1:8080', does: 'asks for the key and stores the context prod' },
  ],
  async run(session, [chosen = 'default'], given) {
    const { options, terminal } = session;
    const contexts = await readContexts();
    const known = contexts.contexts.find((each) => each.name === chosen);
    const base = contextFrom(session, chosen, given.keyCommand, known);
    const key =
      (await apiKeyOf(options.apiKeyFile, base)) ??
      (terminal.isInteractive ? await terminal.askHidden('API key (empty for none): ') : '');
    const { targets, timeoutMs } = await connectionOf(
      { ...options, server: base.servers, apiKeyFile: undefined },
      (text) => terminal.warn(text),
      // The key is known by now: neither the file nor the command is asked again.
      { ...base, apiKey: key, apiKeyFile: undefined, keyCommand: undefined },
    );
    const api = new Api({
      servers: targets,
      apiKey: key === '' ? undefined : key,
      timeoutMs,
      command: 'login',
      warn: (text) => terminal.warn(text),
      trace: (line) => terminal.trace(line),
    });
    const { name: who, role } = await api.get<WhoAmI>('/whoami');
    const isElsewhere = options.apiKeyFile !== undefined || given.keyCommand !== undefined;
    store({ ...contexts, current: chosen }, { ...base, ...(!isElsewhere && key !== '' && { apiKey: key }) });
    terminal.note(`context   ${chosen}: ${who === '' ? '' : `${who}, `}role ${role}`);
    return exitCodes.done;
  },
});

/** `known`: context of that name, whose servers and certificates count where others are not given. */
function contextFrom(
  { options }: Session,
  chosen: string,
  fromCommand: string | undefined,
  known?: ConnectionContext,
): ConnectionContext {
  const { ca = known?.ca, cert = known?.cert, key = known?.key, apiKeyFile } = options;
  const servers = serversOf(options, known?.servers);
  const given = { ca, cert, key, apiKeyFile: apiKeyFile === '-' ? undefined : apiKeyFile, keyCommand: fromCommand };
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { name: chosen, servers: servers.map((each) => serverUrl(each).href), ...fields };
}

function store(contexts: Contexts, context: ConnectionContext): void {
  const others = contexts.contexts.filter((each) => each.name !== context.name);
  writeContexts({ current: contexts.current ?? context.name, contexts: [...others, context] });
}
