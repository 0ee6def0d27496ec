// Uploads an image to a host in pieces. A partial upload stays for a while, and the same command resumes it.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { UploadObject } from '../../api/routes/compute-images.ts';
import { conflict, Failure, unavailable } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import type { Session } from '../frame/session.ts';
import { inBytes } from '../terminal/figures.ts';
import { fileBody } from '../terminal/files.ts';

const GOES_ON = 'the same command goes on there, within an hour';

export interface Place {
  /** Of the emulator on its host, below `/v2/computes`. */
  path: string;
  name: string;
}

/** @throws Failure of the file or the server */
export async function sendImage(session: Session, file: string, { path, name }: Place): Promise<void> {
  const status = await stat(file).catch(throwFileFailure(file));
  if (!status.isFile()) throw conflict(`${file}: only regular files can be sent.`);
  const { size: filesize, mtimeMs } = status;
  // The same for the same file and place; another one when the file has changed meanwhile.
  const id = uuidOf([path, name, resolve(file), filesize, mtimeMs].join('\0'));
  const upload = `${path}/uploads/${id}`;
  const begin = () => session.api.request('PUT', upload, { filename: name, filesize }) as Promise<UploadObject>;
  let begun = await begin();
  if (begun.offset === filesize) {
    // It has arrived as a whole before; the image may have been deleted or replaced since then.
    await session.api.delete(upload);
    begun = await begin();
  }
  if (begun.offset > 0) session.remark(`Continuing: ${inBytes(begun.offset)} are already on the server.`);
  using sent = await fileBody(session, file, begun.offset);
  const told = session.ending.defer(() => session.remark(`Interrupted: ${GOES_ON}.`));
  try {
    await session.api.upload(`${upload}/${begun.offset}`, sent.body);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
    throw unavailable(`${error.message.replace(/\.?$/, '')}; ${GOES_ON}.`, { cause: error });
  } finally {
    told.cancel();
  }
}

/** A UUID derived from a text. */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  const parts = /^(.{8})(.{4})(.{3})(.{3})(.{12})/.exec(digits)!.slice(1);
  const [one, two, three, four, five] = parts;
  return `${one}-${two}-8${three}-8${four}-${five}`;
}
