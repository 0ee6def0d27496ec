// Files dropped anywhere on a screen.
import { useEffect, useRef } from 'preact/hooks';

/** A dragged text is left to the field below it. */
const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/**
 * @param why the reason to refuse them, or an empty text
 * @param refuse shows the reason
 */
export function useFileDrop(why: () => string, refuse: (why: string) => void, take: (files: File[]) => void): void {
  // The listeners stay while the screen is redrawn with other functions.
  const latest = useRef({ why, refuse, take });
  latest.current = { why, refuse, take };
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (hasFiles(event)) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      const refused = latest.current.why();
      // The file list is cleared after the event.
      const files = [...(event.dataTransfer?.files ?? [])];
      if (refused === '') latest.current.take(files);
      else latest.current.refuse(refused);
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
    };
  }, []);
}
