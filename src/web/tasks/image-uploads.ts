// Uploads of images, and those of an earlier page, which resume when their file is chosen again.
import { signal } from '@preact/signals';
import type { UploadObject } from '../../api/routes/compute-images.ts';
import { randomId } from '../model/browser/uuid.ts';
import { api, Refusal } from '../model/server/api.ts';
import { sentenceOf } from '../model/server/sentence.ts';
import { sampleOf } from '../model/transfer/file-sample.ts';
import { ImageUpload, type UploadWire } from '../model/transfer/image-upload.ts';
import { ALIVE_MS, browserStore, isSameFile, type KeptUpload, KeptUploads } from '../model/transfer/kept-uploads.ts';
import type { Task } from '../model/transfer/tasks.ts';
import { WORDS } from '../words.ts';
import { inTurn, reasonOf, tasks } from './page-tasks.ts';
import { send } from './send.ts';

const words = WORDS.tasks.upload;

/** Number of images uploaded by this page. */
export const imagesSent = signal(0);

const kept = new KeptUploads(browserStore());
/** Ids of the uploads of this page. */
const ours = new Set<string>();

/** Tasks of uploads of earlier pages, until their file is chosen. */
const offered = new Map<string, Task>();

type Target = Pick<KeptUpload, 'id' | 'computeId' | 'emulator'>;

const pathOf = ({ id, computeId, emulator }: Target): string =>
  `/computes/${encodeURIComponent(computeId)}/${emulator}/uploads/${id}`;

/** Uploads an image to a compute. Never rejects: the task shows the result. */
export function uploadImage(computeId: string, emulator: string, file: File): void {
  const target = { id: randomId(), computeId, emulator };
  const task = tasks.add({ id: target.id, kind: 'upload', name: file.name });
  ours.add(target.id);
  // The upload itself reports an unreadable file.
  void sampleOf(file)
    .then((sample) => {
      const { name: filename, size: filesize, lastModified: modified } = file;
      if (ours.has(target.id)) kept.keep({ ...target, filename, filesize, modified, sample });
    })
    .catch(() => {});
  sendImage(target, file, task);
}

function sendImage(target: Target, file: File, task: Task): void {
  const path = pathOf(target);
  const wire: UploadWire = {
    announce: () => api.put<UploadObject>(path, { filename: file.name, filesize: file.size }),
    send: (offset, sent, signal) => send({ path: `${path}/${offset}`, content: file.slice(offset), sent, signal }),
    readable: () => file.slice(0, 1).arrayBuffer(),
    reason: () => reasonOf(target.id),
    remove: () => api.delete(path),
  };
  task.actions = {
    retry: () => {
      tasks.dismiss(target.id);
      uploadImage(target.computeId, target.emulator, file);
    },
  };
  const upload = new ImageUpload({ task, wire, changed: () => tasks.changed(), words, turn: inTurn });
  void upload.run().then((md5sum) => {
    if (md5sum !== undefined) imagesSent.value += 1;
    // However it ended, it will not resume.
    end(target.id);
  });
}

function end(id: string): void {
  ours.delete(id);
  offered.delete(id);
  kept.forget(id);
}

/** Lists uploads of closed pages as tasks that wait for their file. */
async function takeUp(): Promise<void> {
  for (const upload of kept.left()) {
    if (ours.has(upload.id)) continue;
    ours.add(upload.id);
    kept.say(ours);
    try {
      offer(upload, await api.get<UploadObject>(pathOf(upload)));
    } catch (error) {
      // The server ended the upload. Without an answer it may still exist.
      if (error instanceof Refusal && error.status === 404) end(upload.id);
      else ours.delete(upload.id);
    }
  }
}

function offer(upload: KeptUpload, { offset, md5sum }: UploadObject): void {
  const task = tasks.add({ id: upload.id, kind: 'upload', name: upload.filename });
  if (md5sum !== null) {
    task.state = 'done';
    task.message = words.done(md5sum);
    end(upload.id);
    tasks.changed();
    return;
  }
  offered.set(upload.id, task);
  task.unit = 'bytes';
  task.total = upload.filesize;
  task.done = offset;
  task.rest('paused', words.left);
  task.actions = {
    choose: () => choose((file) => void goOn(upload, task, file)),
    cancel: () => {
      task.state = 'cancelled';
      task.message = '';
      end(upload.id);
      tasks.changed();
      api.delete(pathOf(upload)).catch(() => {});
    },
  };
  tasks.changed();
}

/** Resumes an upload if this is its file. */
async function goOn(upload: KeptUpload, task: Task, file: File): Promise<void> {
  const say = (message: string): void => {
    task.message = message;
    tasks.changed();
  };
  say(words.looking);
  try {
    const found = await isSameFile(upload, file);
    if (task.isOver) return;
    if (found === 'same') {
      offered.delete(upload.id);
      sendImage(upload, file, task);
    } else say(words[found](file.name));
  } catch (error) {
    say(sentenceOf(error));
  }
}

/** Opens a file chooser; only allowed in a click handler. */
function choose(chosen: (file: File) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.onchange = () => {
    const [file] = input.files ?? [];
    if (file) chosen(file);
  };
  input.click();
}

/** Ends offers of uploads that another page has ended. */
function withdraw(): void {
  for (const [id, task] of offered) {
    if (kept.has(id)) continue;
    end(id);
    task.state = 'cancelled';
    tasks.dismiss(id);
  }
}

setInterval(() => {
  withdraw();
  kept.say(ours);
  void takeUp();
}, ALIVE_MS);
addEventListener('pagehide', () => kept.say(ours, true));
void takeUp();
