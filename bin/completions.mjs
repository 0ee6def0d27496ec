// What shells and man(1) are told of the command line, made from the definitions of src/commands/definitions.ts and src/client.
import { NOUNS } from '../src/client/commands/nouns.ts';
import { flagsOf } from '../src/client/frame/command.ts';
import { allCommands } from '../src/client/frame/help.ts';
import { COMMANDS, FLAGS, HELP } from '../src/commands/definitions.ts';

const FILE_FLAGS = ['config', 'certfile', 'certkey', 'log', 'pid', 'record', 'password-file', 'to'];
const FIRST_WORDS = [...COMMANDS, ...NOUNS.map(({ name }) => name)].join(' ');
const long = FLAGS.map(({ name }) => `--${name}`);
const verbsOf = ({ verbs }) => verbs.map(({ name }) => name).filter((name) => name !== '');
/** The flags of all verbs of a noun: name and whether a value follows. */
const nounFlags = ({ verbs }) =>
  Object.entries(Object.assign({}, ...verbs.map(flagsOf))).map(([name, { value }]) => ({
    name,
    hasValue: value !== undefined,
  }));

const bashNoun = (noun) => `  ${noun.name})
    if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '${nounFlags(noun)
      .map(({ name }) => `--${name}`)
      .join(' ')}' -- "$current")
    elif [[ $COMP_CWORD -eq 2 ]]; then mapfile -t COMPREPLY < <(compgen -W '${verbsOf(noun).join(' ')}' -- "$current")
    else mapfile -t COMPREPLY < <(compgen -f -- "$current")
    fi
    return ;;`;

export const bashCompletion = `# bash completion of labwired
_labwired() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  case $previous in
  ${FILE_FLAGS.map((name) => `--${name}`).join('|')}) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
  --state|backup) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
  esac
  [[ $COMP_CWORD -gt 1 ]] && case \${COMP_WORDS[1]} in
${NOUNS.map(bashNoun).join('\n')}
  esac
  if [[ $current == -* ]]; then mapfile -t COMPREPLY < <(compgen -W '${long.join(' ')}' -- "$current")
  elif [[ $COMP_CWORD -eq 1 ]]; then mapfile -t COMPREPLY < <(compgen -W '${FIRST_WORDS}' -- "$current")
  fi
}
complete -F _labwired labwired
`;

const zshAction = (name) =>
  FILE_FLAGS.includes(name) ? ':file:_files' : name === 'state' ? ':directory:_files -/' : ':value:';
const zshFlags = (flags) =>
  flags.map(({ name, hasValue }) => `  '--${name}${hasValue ? `[]${zshAction(name)}` : '[]'}'`).join(' \\\n');
const zshNoun = (noun) => `${noun.name})
  if (( CURRENT == 3 )) && [[ $words[3] != -* && -n '${verbsOf(noun).join(' ')}' ]]; then
    compadd ${verbsOf(noun).join(' ')}
    return
  fi
  _arguments \\
${zshFlags(nounFlags(noun))} \\
  '*:file:_files'
  return ;;`;
export const zshCompletion = `#compdef labwired
(( CURRENT > 2 )) && case $words[2] in
${NOUNS.map(zshNoun).join('\n')}
esac
_arguments '1:command:(${FIRST_WORDS})' \\
${zshFlags(FLAGS)} \\
  '*:directory:_files -/'
`;

const fishFlags = (flags, condition) =>
  flags.map(({ name, hasValue }) => {
    const value = hasValue ? ` -r${FILE_FLAGS.includes(name) || name === 'state' ? '' : ' -f'}` : '';
    return `complete -c labwired${condition} -l ${name}${value}`;
  });
const fishNoun = (noun) => {
  const seen = `__fish_seen_subcommand_from ${noun.name}`;
  const verbs = verbsOf(noun).join(' ');
  const own =
    verbs === ''
      ? []
      : [`complete -c labwired -f -n '${seen}; and not __fish_seen_subcommand_from ${verbs}' -a '${verbs}'`];
  return [...own, ...fishFlags(nounFlags(noun), ` -n '${seen}'`)];
};
const NO_NOUN = ` -n 'not __fish_seen_subcommand_from ${NOUNS.map(({ name }) => name).join(' ')}'`;
export const fishCompletion = `# fish completion of labwired
complete -c labwired -f -n __fish_use_subcommand -a '${FIRST_WORDS}'
${[...fishFlags(FLAGS, NO_NOUN), ...NOUNS.flatMap(fishNoun)].join('\n')}
`;

/** Text as roff has it: nothing in it is a request. */
const verbatim = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll(/^([.'])/gm, '\\&$1');

/** The page of section 1. */
export function commandManual(version) {
  const [, ...rest] = HELP.split('\n\n');
  return `.TH LABWIRED 1 "" "Labwire ${version}" "User Commands"
.SH NAME
labwired \\- network\\-lab server in one executable
.SH SYNOPSIS
.B labwired
[\\fIcommand\\fR] [\\fIoptions\\fR]
.SH DESCRIPTION
.B labwired
runs network labs: virtual PCs, routers, machines and containers that are joined by virtual cables. It speaks the GNS3 API, version 2, and has a page of its own for browsers:
.UR http://127.0.0.1:3080/
.UE .
.SH COMMANDS AND OPTIONS
.nf
${verbatim(rest.join('\n\n'))}.fi
.SH COMMANDS ON A RUNNING SERVER
.nf
${verbatim(allCommands(NOUNS))}.fi
.SH EXIT STATUS
0: done. 1: it did not work, and standard error says why. 2: the command line was not understood.
.SH FILES
.TP
.I /etc/labwire/labwired.conf
configuration, see
.BR labwired.conf (5)
.TP
.I /var/lib/labwire
labs, images and all else that is to be kept, of the service
.TP
.I /run/labwire/labwired.sock
local socket of the service, for root and the service's user
.TP
.I ~/.config/labwire/contexts.json
servers by names
.TP
.I /usr/share/doc/labwired
the documents; command-line.md has examples of all commands
.SH ENVIRONMENT
.TP
.B LABWIRE_SERVER
the running server that commands speak to, such as http://ann@lab.example:3080; without one, that of this host
.TP
.B LABWIRE_CONTEXT
the context, made by labwired context add, that they go by
.TP
.B LABWIRE_LAB
the lab that they are about
.SH SEE ALSO
.BR labwired.conf (5),
.BR systemctl (1)
`;
}

/** The page of section 5: the file that comes with the package, which explains itself. */
export function configurationManual(version, file) {
  return `.TH LABWIRED.CONF 5 "" "Labwire ${version}" "File Formats"
.SH NAME
labwired.conf \\- configuration of labwired
.SH DESCRIPTION
.I /etc/labwire/labwired.conf
has sections in brackets and lines of the form \\fIkey\\fR = \\fIvalue\\fR. Flags and variables such as
.B LABWIRE_SERVER_PORT
win over it. An unknown key is a warning; a value that is not possible stops the start and is named with its line. These are the keys that are used most, with their defaults;
.I /usr/share/doc/labwired/configuration.md
has all of them.
.SH EXAMPLE
.nf
${verbatim(file)}.fi
.SH SEE ALSO
.BR labwired (1)
`;
}
