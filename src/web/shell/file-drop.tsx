// Files dropped anywhere on a screen. No screen leaves them to the browser, which would show them in the place of the page.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { pageNotice } from '../model/browser/page-notice.ts';
import { setTo } from '../model/browser/signal-handlers.ts';
import { WORDS } from '../words.ts';

interface Taker {
  /** What the drop would do. */
  words: string;
  /** The reason to refuse files, or an empty text. */
  why(): string;
  /** Shows the reason. */
  refuse(why: string): void;
  take(files: File[]): void;
}

/** What the shown screen does with files; undefined if it takes none. */
const taker = signal<{ readonly current: Taker } | undefined>(undefined);
/** Whether files are being dragged over the page. */
const isOver = signal(false);

/** A dragged text is left to the field below it. */
const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') ?? false;

/** The screen takes dropped files. */
export function useFileDrop(now: Taker): void {
  // The screen is redrawn with other functions.
  const latest = useRef(now);
  latest.current = now;
  useEffect(() => {
    taker.value = latest;
    return () => {
      if (taker.peek() === latest) taker.value = undefined;
    };
  }, []);
}

/** Browsers send `dragover` several times a second; some send no `dragleave` when the pointer leaves the window. */
const LEFT_MS = 1_000;
let leaving: ReturnType<typeof setTimeout> | undefined;

function over(event: DragEvent): void {
  if (!hasFiles(event)) return;
  event.preventDefault();
  isOver.value = true;
  clearTimeout(leaving);
  leaving = setTimeout(setTo(isOver, false), LEFT_MS);
}

/** The pointer left the window, not only an element of the page. */
function leave({ relatedTarget }: DragEvent): void {
  if (relatedTarget === null) isOver.value = false;
}

function drop(event: DragEvent): void {
  isOver.value = false;
  if (!hasFiles(event)) return;
  event.preventDefault();
  const now = taker.peek()?.current;
  // The file list is cleared after the event.
  const files = [...(event.dataTransfer?.files ?? [])];
  if (!now) {
    pageNotice.value = WORDS.page.dropElsewhere;
    return;
  }
  const refused = now.why();
  if (refused === '') now.take(files);
  else now.refuse(refused);
}

/** Says what a drop would do while files are dragged over the page. */
export function FileDrop() {
  useEffect(() => {
    const listeners = new AbortController();
    const options = { signal: listeners.signal };
    addEventListener('dragover', over, options);
    addEventListener('dragleave', leave, options);
    addEventListener('drop', drop, options);
    return () => listeners.abort();
  }, []);
  if (!isOver.value) return null;
  const now = taker.value?.current;
  return <p class="drop-here">{now ? now.why() || now.words : WORDS.page.dropElsewhere}</p>;
}
