// Counts what goes into an archive, and breaks off when that is cancelled.
import { Readable } from 'node:stream';
import { counted, type Progress } from '../../host/progress.ts';
import type { ArchiveSink } from '../../store/archive/writer.ts';

/** Takes entries for `sink`. */
export function watchedSink(sink: ArchiveSink, progress: Progress): ArchiveSink {
  return {
    async addFile(name, content, attributes) {
      await sink.addFile(name, Readable.from(counted(content, progress), { objectMode: false }), attributes);
    },
    async addOpenFile(name, file) {
      progress.check();
      await sink.addOpenFile(name, file, (bytes) => {
        progress.check();
        progress.advance(bytes, 'bytes');
      });
    },
    addText: (name, text) => sink.addText(name, text),
    addLink: (name, target) => sink.addLink(name, target),
    addFolder: (name) => sink.addFolder(name),
  };
}
