// The tasks button of every screen: number and progress, and the list on request.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go } from '../address.ts';
import { inNumbers } from '../language.ts';
import { bytesInWords } from '../model/browser/byte-sizes.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import type { Task } from '../model/transfer/tasks.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';
import { tasks } from './page-tasks.ts';

const words = WORDS.tasks;

export function TasksButton() {
  const isShown = useSignal(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isShown.value) return;
    const outside = ({ target }: PointerEvent): void => {
      if (!place.current?.contains(target as Node)) isShown.value = false;
    };
    const leave = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      isShown.value = false;
      button.current?.focus();
    };
    const own = place.current;
    addEventListener('pointerdown', outside);
    own?.addEventListener('keydown', leave);
    return () => {
      removeEventListener('pointerdown', outside);
      own?.removeEventListener('keydown', leave);
    };
  }, [isShown.value, isShown]);
  // Rendered again with each change.
  tasks.changes.value;
  const list = tasks.list();
  const running = list.filter(({ isOver }) => !isOver);
  const failed = list.filter(({ state }) => state === 'failed').length;
  if (list.length === 0 && !isShown.value) return null;
  const known = running.flatMap(({ fraction }) => (fraction === undefined ? [] : [fraction]));
  return (
    <div class="tasks" ref={place}>
      <button
        type="button"
        ref={button}
        aria-expanded={isShown.value}
        data-failed={failed > 0 || undefined}
        onClick={() => {
          isShown.value = !isShown.value;
        }}
      >
        {running.length > 0 ? words.running(running.length) : failed > 0 ? words.failed(failed) : words.title}
        {known.length > 0 && (
          <progress aria-hidden="true" value={known.reduce((sum, part) => sum + part, 0) / known.length} />
        )}
      </button>
      {isShown.value && (
        <section aria-label={words.list}>
          {list.length === 0 && <p>{words.none}</p>}
          <ul>
            {list.map((task) => (
              <Line key={task.id} task={task} leave={setTo(isShown, false)} />
            ))}
          </ul>
          {list.some(({ isOver }) => isOver) && <Button onClick={() => tasks.dismiss()} text={words.clear} />}
        </section>
      )}
    </div>
  );
}

/** Address of the result of a task. */
function placeOf({ kind, projectId, state }: Task): string | undefined {
  if (state !== 'done') return undefined;
  if (kind === 'upload') return '/images';
  if (kind === 'duplicate') return '/';
  return projectId && kind !== 'export' ? `/labs/${projectId}` : undefined;
}

function Line({ task, leave }: { task: Task; leave: () => void }) {
  const { actions, state } = task;
  const name = `${words.kinds[task.kind] ?? task.kind} ${task.name}`;
  const place = placeOf(task);
  const action = (text: string, run: (() => void) | undefined) =>
    run && <Button aria-label={`${text}: ${name}`} onClick={run} text={text} />;
  return (
    <li data-state={state}>
      <strong>{name}</strong>
      {!task.isOver && <progress aria-label={name} {...(task.fraction !== undefined && { value: task.fraction })} />}
      <small>{detailsOf(task)}</small>
      <div class="actions">
        {action(words.pause, task.isOver ? undefined : actions.pause)}
        {action(words.resume, actions.resume)}
        {action(words.choose, task.isOver ? undefined : actions.choose)}
        {action(WORDS.common.cancel, task.isOver || state === 'cancelling' ? undefined : actions.cancel)}
        {action(WORDS.common.retry, state === 'failed' ? actions.retry : undefined)}
        {place !== undefined && (
          <a
            class="button"
            href={place}
            aria-label={`${words.show}: ${name}`}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              leave();
              go(place);
            }}
          >
            {words.show}
          </a>
        )}
        {task.isOver && action(words.dismiss, () => tasks.dismiss(task.id))}
      </div>
    </li>
  );
}

function amount(count: number, unit: Task['unit']): string {
  return unit === 'bytes' ? bytesInWords(count) : words.nodes(count);
}

/** Step, amount, rate and remaining time. */
function detailsOf(task: Task): string {
  const { state, message, unit, total, done, rate, left } = task;
  const what = message || words.states[state] || '';
  if (task.isOver || unit === undefined) return what;
  const parts = [what];
  if (total !== undefined)
    parts.push(words.of(unit === 'nodes' ? inNumbers(done) : bytesInWords(done), amount(total, unit)));
  else if (done > 0) parts.push(amount(done, unit));
  if (rate !== undefined && unit === 'bytes') parts.push(words.rate(bytesInWords(rate)));
  if (left !== undefined) parts.push(words.left(left));
  return parts.filter((part) => part !== '').join(', ');
}
