// Reports the progress of writing an archive, and stops when the operation is cancelled.
import type { Progress } from '../../host/values/progress.ts';
import { type ArchiveSink, telling } from '../../store/archive/writer.ts';

/** A sink that passes its entries to `sink`. */
export function watchedSink(sink: ArchiveSink, progress: Progress): ArchiveSink {
  const passed = (bytes: number): void => {
    progress.check();
    progress.advance(bytes, 'bytes');
  };
  return {
    addFile: (name, content, attributes) => sink.addFile(name, telling(content, passed), attributes),
    addOpenFile: (name, file) => sink.addOpenFile(name, file, passed),
    addText: (name, text) => sink.addText(name, text),
    addLink: (name, target) => sink.addLink(name, target),
    addFolder: (name) => sink.addFolder(name),
  };
}
