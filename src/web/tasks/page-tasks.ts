// The tasks of this page: the server's operations, uploads, and operations started here.
import type { OperationObject } from '../../api/objects.ts';
import { pageNotice } from '../model/browser/page-notice.ts';
import { randomId } from '../model/browser/uuid.ts';
import { dropDrafts, isUnsaved } from '../model/lab/file-drafts.ts';
import { otherNamesInWords } from '../model/lab/taken-names.ts';
import { api, isUnanswered } from '../model/server/api.ts';
import { Events } from '../model/server/events.ts';
import { sentenceOf } from '../model/server/sentence.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { type Task, Tasks } from '../model/transfer/tasks.ts';
import { WORDS } from '../words.ts';
import { send } from './send.ts';

/** Pause before the operations are read again after the connection was lost. */
const READ_PAUSE_MS = 2_000;
/** Concurrent image uploads; others wait. */
const UPLOADS_AT_ONCE = 2;

export const tasks = new Tasks({ cancel: (id) => api.delete(`/operations/${id}`) });

/** The notifications of the whole page, on all screens. */
export const pageEvents = new Events({
  path: '/notifications/ws',
  query: { operations: 'yes' },
  message: ({ action, event }) => {
    if (action.startsWith('operation.')) tasks.apply(event as unknown as OperationObject);
    if (action === 'project.deleted') dropDrafts(`/projects/${event['project_id']}`);
  },
  // Progress events are not stored, so the list is read after every reconnect.
  missed: () => void readAll(),
  resumed: () => void readAll(),
});

/** Returns whether the server answered. */
async function readAll(): Promise<boolean> {
  const operations = await api.get<OperationObject[]>('/operations').catch(() => undefined);
  if (operations) tasks.read(operations);
  return operations !== undefined;
}

/** Runs for the lifetime of the page. */
export function startTasks(): void {
  pageEvents.start();
  addEventListener('beforeunload', (event) => {
    if (tasks.isSending || isUnsaved()) event.preventDefault();
  });
}

export interface Beginning {
  kind: string;
  name: string;
  projectId?: string;
}

export interface Upload {
  /** Ends it when the task is cancelled. */
  sending: AbortController;
  /** Begins it again. */
  again: () => Promise<unknown>;
}

/**
 * Starts a long operation of the server: `call` sends the request with the operation's id. Resolves and rejects as `call` does; the task
 * can be retried from the list. If the answer is lost, the server's list of operations decides: resolves to undefined for a done one, and
 * the task of a running one follows it.
 */
export async function begin<T>(
  beginning: Beginning,
  call: (id: string, task: Task) => Promise<T>,
  upload?: Upload,
): Promise<T | undefined> {
  const id = randomId();
  const task = tasks.add({ id, ...beginning });
  task.actions = { cancel: () => void cancel(id) };
  try {
    const answer = await call(id, task);
    task.state = 'done';
    task.actions = {};
    compareNames(task, answer);
    // Fast operations need no entry.
    if (performance.now() - task.begun < 1_000 && task.message === '') tasks.dismiss(id);
    return answer;
  } catch (error) {
    const isEnded = upload?.sending.signal.aborted === true;
    if (isUnanswered(error) && !isEnded) return await unanswered(sentenceOf(error));
    task.state = (task.state as string) === 'cancelling' ? 'cancelled' : 'failed';
    task.message = isEnded ? '' : sentenceOf(error);
    task.actions = task.state === 'failed' ? { retry: again } : {};
    throw error;
  } finally {
    tasks.changed();
  }

  function again(): void {
    tasks.dismiss(id);
    (upload ? upload.again() : begin(beginning, call)).catch(() => {});
  }

  async function unanswered(why: string): Promise<undefined> {
    const lost = WORDS.message.mayBeDone(why);
    task.rest('waiting', WORDS.tasks.upload.cut);
    task.lost = lost;
    task.actions = { ...task.actions, retry: again };
    tasks.changed();
    if (!(await readAll())) void readLater();
    if ((task.state as string) !== 'done') throw new Error((task.isOver && task.message) || lost);
  }

  async function cancel(operation: string): Promise<void> {
    if (upload) {
      task.state = 'cancelling';
      upload.sending.abort();
    }
    try {
      await api.delete(`/operations/${operation}`);
      if (!task.isOver) task.state = 'cancelling';
    } catch (error) {
      // The server may not know an upload that has just begun.
      if (!upload) task.message = sentenceOf(error);
    }
    tasks.changed();
  }
}

async function readLater(): Promise<void> {
  do await new Promise((resolve) => setTimeout(resolve, READ_PAUSE_MS));
  while (!(await readAll()));
}

/** Tasks named after the lab that they create and return. */
const MAKES_LAB = ['duplicate', 'import'];

/** Says that the lab got another name because the requested one was taken. */
function compareNames(task: Task, answer: unknown): void {
  task.message = '';
  if (!MAKES_LAB.includes(task.kind)) return;
  const { name } = answer as ProjectObject;
  if (name === task.name) return;
  task.message = otherNamesInWords([[task.name, name]]);
  pageNotice.value = task.message;
}

/** Imports a lab from an archive. */
export async function importLab(file: File): Promise<void> {
  const projectId = randomId();
  const name = file.name.replace(/\.gns3(project|p)$/, '');
  const sending = new AbortController();
  const call = async (id: string, task: Task): Promise<ProjectObject> => {
    Object.assign(task, { isSending: true, unit: 'bytes', total: 2 * file.size });
    try {
      return await send<ProjectObject>({
        path: `/projects/${projectId}/import?name=${encodeURIComponent(name)}`,
        content: file,
        headers: { 'X-Operation-Id': id },
        sent: (bytes) => {
          if (bytes > task.done) task.done = bytes;
          tasks.changed();
        },
        signal: sending.signal,
      });
    } finally {
      task.isSending = false;
    }
  };
  try {
    await begin({ kind: 'import', name, projectId }, call, { sending, again: () => importLab(file) });
  } catch (error) {
    if (!sending.signal.aborted) throw new Error(`${name}: ${sentenceOf(error)}`);
  }
}

/** Why an operation failed. The answer is lost if the server rejects the request before reading its body. */
export async function reasonOf(id: string): Promise<string | undefined> {
  const list = await api.get<OperationObject[]>('/operations').catch(() => []);
  const { state, message } = list.find(({ operation_id }) => operation_id === id) ?? {};
  return state === 'failed' ? message : undefined;
}

let sending = 0;
const queue = new Set<() => void>();

/** Does the work when fewer than `UPLOADS_AT_ONCE` are under way. @throws the signal's reason if it is aborted before its turn */
export async function inTurn<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  if (sending < UPLOADS_AT_ONCE) sending += 1;
  else await turnOfAnother(signal);
  try {
    return await work();
  } finally {
    const [next] = queue;
    if (next) next();
    else sending -= 1;
  }
}

/** Resolves when an ended work hands over its turn. */
function turnOfAnother(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      queue.delete(begin);
      signal.removeEventListener('abort', giveUp);
    };
    const begin = (): void => {
      leave();
      resolve();
    };
    const giveUp = (): void => {
      leave();
      reject(signal.reason);
    };
    queue.add(begin);
    signal.addEventListener('abort', giveUp);
  });
}
