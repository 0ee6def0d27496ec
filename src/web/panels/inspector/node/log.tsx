// What has happened to a node, and the end of the logs in its directory.
import { api } from '../../../model/api.ts';
import { useLoaded } from '../../../model/loaded.ts';
import type { NodeObject } from '../../../model/types.ts';
import { STATUS, WORDS } from '../../../words.ts';
import type { TabProps } from '../tabs.tsx';
import { diskUse, pathOfFile } from './node-files.ts';

const words = WORDS.node;
const MOST_BYTES = 4 * 1024 * 1024;
const LINES = 100;

export function Log({ context, object: node }: TabProps<NodeObject>) {
  const entries = context.journal.of(node.node_id);
  const { value } = useLoaded(async () => {
    const { files } = await diskUse(node);
    const logs = files.filter(({ path, size }) => /(\.log|_log\.txt)$/.test(path) && size > 0 && size <= MOST_BYTES);
    return await Promise.all(
      logs.map(async ({ path }) => {
        const text = (await api.text(pathOfFile(node, path), MOST_BYTES)) ?? '';
        return { path, text: text.trimEnd().split('\n').slice(-LINES).join('\n') };
      }),
    );
  }, [node.node_id, node.status]);
  return (
    <>
      {entries.length === 0 && <p>{words.noEvents}</p>}
      <ol class="log">
        {entries.toReversed().map(({ at, text, status }, index) => (
          <li key={entries.length - index}>
            <time dateTime={at.toISOString()}>{at.toLocaleTimeString()}</time>{' '}
            {status === undefined ? text : words.became(STATUS[status] ?? status)}
          </li>
        ))}
      </ol>
      {(value.value ?? []).map(({ path, text }) => (
        <section key={path}>
          <h3>{words.lastLines(path)}</h3>
          <pre class="log">{text}</pre>
        </section>
      ))}
    </>
  );
}
