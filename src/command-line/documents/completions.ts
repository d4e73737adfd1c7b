// Completions of shells, made of the declared commands.
import type { Command, Flag } from '../command-declaration.ts';
import { flagsOf, globalFlags, kebab } from '../global-flags.ts';
import type { Shell } from '../shells.ts';

/** Returns the text that the shell loads. */
export function completionFor(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

/** Words that may follow each prefix of words. */
function nextWords(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const next = new Map<string, Set<string>>();
  for (const { words } of commands) {
    const parts = words.split(' ');
    for (const [at, part] of parts.entries()) {
      const prefix = parts.slice(0, at).join(' ');
      next.set(prefix, (next.get(prefix) ?? new Set()).add(part));
    }
  }
  return new Map([...next].map(([prefix, words]) => [prefix, [...words]]));
}

const flagWords = (command: Command): string[] => Object.entries(flagsOf(command)).flatMap(spellings);

const choicesOf = ({ arguments: given = [] }: Command): readonly string[] => given[0]?.choices ?? [];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function cases(commands: readonly Command[], indent: string, line: (words: string) => string): string {
  const next = nextWords(commands);
  const prefixes = new Set([...next.keys(), ...commands.map(({ words }) => words)]);
  return [...prefixes]
    .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .map((prefix) => {
      const command = commands.find(({ words }) => words === prefix);
      const words = [
        ...(next.get(prefix) ?? []),
        ...(command === undefined ? [] : [...choicesOf(command), ...flagWords(command)]),
      ];
      return `${indent}${quoted(prefix)}) ${line(words.join(' '))} ;;`;
    })
    .join('\n');
}

/** Body of a loop over the words before the one that is completed: `named` becomes the longest command that they name. */
function followWord(commands: readonly Command[]): string {
  const known = [...nextWords(commands).keys(), ...commands.map(({ words }) => words)];
  const prefixes = [...new Set(known)].filter((each) => each !== '');
  return `    case "$word" in -*) continue ;; esac
    candidate="\${named:+$named }$word"
    case "$candidate" in
      ${prefixes.map(quoted).join('|')}) named="$candidate" ;;
    esac`;
}

const takesFile = (flag: Flag): boolean => flag.kind !== 'switch' && (flag.value === 'FILE' || flag.value === 'FOLDER');

const spellings = ([name, { alias }]: readonly [string, Flag]): string[] => [
  `--${kebab(name)}`,
  ...(alias === undefined ? [] : [`-${alias}`]),
];

/** Patterns of a command, a blank and a flag that takes a file. */
function fileFlags(commands: readonly Command[]): string {
  const shared = Object.entries<Flag>(globalFlags).filter(([, flag]) => takesFile(flag));
  const own = commands.flatMap(({ words, flags = {} }) =>
    Object.entries(flags)
      .filter(([, flag]) => takesFile(flag))
      .flatMap(spellings)
      .map((flag) => quoted(`${words} ${flag}`)),
  );
  return [...shared.flatMap(spellings).map((flag) => `*${quoted(` ${flag}`)}`), ...own].join('|');
}

const forms = 'table wide json yaml name cel=';

function bash(commands: readonly Command[]): string {
  return `# bash completion of sluice; generated from its commands.
_sluice() {
  local current="\${COMP_WORDS[COMP_CWORD]}" named="" word candidate words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${followWord(commands)}
  done
  case "$named" in
${cases(commands, '    ', (words) => `words=${quoted(words)}`)}
  esac
  case "$named \${COMP_WORDS[COMP_CWORD-1]}" in
    ${fileFlags(commands)}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    *' -o'|*' --output') words=${quoted(forms)} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sluice sluice
`;
}

function zsh(commands: readonly Command[]): string {
  return `#compdef sluice
# zsh completion of sluice; generated from its commands.
_sluice() {
  local named="" word candidate
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
${followWord(commands)}
  done
  case "$named $words[CURRENT-1]" in
    ${fileFlags(commands)}) _files; return ;;
    *' -o'|*' --output') choices=(${forms}); compadd -a choices; return ;;
  esac
  case "$named" in
${cases(commands, '    ', (words) => `choices=(${words})`)}
  esac
  compadd -a choices
}
if [ "$funcstack[1]" = _sluice ]; then _sluice "$@"; else compdef _sluice sluice; fi
`;
}

function fish(commands: readonly Command[]): string {
  const next = nextWords(commands);
  const lines = ['# fish completion of sluice; generated from its commands.', 'complete -c sluice -f'];
  for (const [prefix, words] of next) {
    const parts = prefix === '' ? [] : prefix.split(' ');
    const seen = parts.map((part) => `__fish_seen_subcommand_from ${part}`);
    const none = `not __fish_seen_subcommand_from ${words.join(' ')}`;
    for (const word of words) {
      const brief = commands.find((each) => each.words === [...parts, word].join(' '))?.brief ?? '';
      lines.push(
        `complete -c sluice -n ${quoted([...seen, none].join('; and '))} -a ${word}${brief === '' ? '' : ` -d ${quoted(brief)}`}`,
      );
    }
  }
  for (const command of commands) {
    const seen = command.words
      .split(' ')
      .map((part) => `__fish_seen_subcommand_from ${part}`)
      .join('; and ');
    for (const choice of choicesOf(command)) lines.push(`complete -c sluice -n ${quoted(seen)} -a ${choice}`);
    for (const [name, flag] of Object.entries(flagsOf(command))) {
      const takes = flag.kind === 'switch' ? '' : ' -r';
      const files = takesFile(flag) ? ' -F' : '';
      lines.push(
        `complete -c sluice -n ${quoted(seen)} -l ${kebab(name)}${flag.alias === undefined ? '' : ` -s ${flag.alias}`}${takes}${files} -d ${quoted(flag.brief)}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}
