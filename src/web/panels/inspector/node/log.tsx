// The history of a node, and the end of the logs in its directory.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JournalEntry } from '../../../../api/routes/projects.ts';
import { dateInWords, timeInWords } from '../../../language.ts';
import { hasFiles } from '../../../model/lab/abilities.ts';
import { api } from '../../../model/server/api.ts';
import { useLoaded } from '../../../model/server/loaded.ts';
import type { NodeObject } from '../../../model/server/types.ts';
import { STATUS, WORDS } from '../../../words.ts';
import { WindowedList } from '../../long-list.tsx';
import { Message } from '../../message.tsx';
import type { TabProps } from '../tabs.tsx';
import { diskUse, pathOfFile } from './node-files.ts';

const words = WORDS.node;
const MOST_BYTES = 4 * 1024 * 1024;
const LINES = 100;

export function Log({ context, object: node }: TabProps<NodeObject>) {
  const { lab } = context;
  const messages = useSignal(0);
  useEffect(
    () =>
      lab.hear(({ action }) => {
        if (action.startsWith('log.')) messages.value += 1;
      }),
    [lab, messages],
  );
  const { value: journal, ...told } = useLoaded(
    () => api.get<JournalEntry[]>(`${lab.path}/journal?node_id=${node.node_id}`),
    [node.node_id, node.name, node.status, messages.value, lab.events.connection.value],
  );
  const entries = journal.value ?? [];
  const { value, problem, again } = useLoaded(async () => {
    if (!hasFiles(node)) return [];
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
      <Message text={told.problem.value} again={told.again} />
      {journal.value && entries.length === 0 && <p>{words.noEvents}</p>}
      <WindowedList
        class="log"
        items={entries.map((entry, number) => ({ ...entry, number })).toReversed()}
        keyOf={({ number }) => String(number)}
        height={22}
        row={({ at, message, status }) => (
          <>
            <time dateTime={at}>{shortTime(at)}</time>{' '}
            {status === null ? message : words.became(STATUS[status] ?? status)}
          </>
        )}
      />
      <Message text={problem.value} again={again} />
      {(value.value ?? []).map(({ path, text }) => (
        <section key={path}>
          <h3>{words.lastLines(path)}</h3>
          <pre class="log">{text}</pre>
        </section>
      ))}
    </>
  );
}

/** The time, with the date unless today. */
function shortTime(at: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? timeInWords(date) : dateInWords(date);
}
