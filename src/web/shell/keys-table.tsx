// All keyboard shortcuts: of verbs and of parts of the screens.
import { Button } from '../panels/button.tsx';
import { VERBS } from '../verbs.ts';
import { WORDS } from '../words.ts';
import { Dialog } from './dialog.tsx';
import { keyText } from './key-text.ts';

const words = WORDS.keys;

const SCOPES = ['everywhere', 'lab', 'nodes', 'link', 'drawing'] as const;

function Keys({ keys }: { keys: readonly string[] }) {
  return (
    <>
      {keys.map((key) => (
        <span key={key}>
          <kbd>{keyText(key)}</kbd>{' '}
        </span>
      ))}
    </>
  );
}

function Row({ text, keys }: { text: string; keys: readonly string[] }) {
  return (
    <tr>
      <th scope="row">{text}</th>
      <td>
        <Keys keys={keys} />
      </td>
    </tr>
  );
}

/** The table itself; the help shows it, too. */
export function KeysList() {
  const groups = SCOPES.map((scope) => {
    const verbs = VERBS.filter((verb) => verb.scope === scope && verb.keys !== undefined);
    return {
      scope,
      rows: verbs.map(
        ({ id, words: text, keys = [] }) =>
          [id, typeof text === 'string' ? text : (words.verbs[id] ?? id), keys] as const,
      ),
    };
  });
  return (
    <div class="keys">
      {groups
        .filter(({ rows }) => rows.length > 0)
        .map(({ scope, rows }) => (
          <table key={scope}>
            <caption>{words.scopes[scope]}</caption>
            <tbody>
              {rows.map(([id, text, keys]) => (
                <Row key={id} text={text} keys={keys} />
              ))}
              {(words.more[scope] ?? []).map(([text, keys]) => (
                <Row key={text} text={text} keys={keys} />
              ))}
            </tbody>
          </table>
        ))}
      <table>
        <caption>{words.terminal}</caption>
        <tbody>
          {words.ofTerminal.map(([text, keys]) => (
            <Row key={text} text={text} keys={keys} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function KeysTable({ close }: { close(): void }) {
  return (
    <Dialog title={words.title} close={close} class="wide">
      {/* First, because it gets the focus. */}
      <div class="head">
        <h2>{words.title}</h2>
        <Button onClick={close} text={WORDS.common.close} />
      </div>
      <KeysList />
    </Dialog>
  );
}
