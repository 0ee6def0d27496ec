// The console of a node as a tab of the dock.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { linesOf, pasteSlowly } from '../console/slow-paste.ts';
import type { ConsoleTerminal } from '../console/terminal.ts';
import { pastedText } from '../model/browser/clipboard.ts';
import { remembered } from '../model/browser/remembered.ts';
import { api } from '../model/server/api.ts';
import { loadPart } from '../model/server/lazy-load.ts';
import { saveFile } from '../model/transfer/save-file.ts';
import { Button } from '../panels/button.tsx';
import type { MenuEntry } from '../panels/menu.tsx';
import { WORDS } from '../words.ts';
import { keyOf } from './entries.ts';
import { FindBar } from './find-bar.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { ConnectionNotice } from './notice.tsx';
import { ownWindow } from './own-window.ts';
import type { PaneProps } from './pane.ts';
import { PasteDialog } from './paste-dialog.tsx';

const words = WORDS.console;
const readsAloud = remembered<boolean>('screen-reader', false);

function set<T>(target: Signal<T>, value: T): void {
  target.value = value;
}

/** What a key types; undefined if nothing. */
function typedBy({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): string | undefined {
  if (ctrlKey || altKey || metaKey) return undefined;
  return key.length === 1 ? key : { Enter: '\r', Backspace: '\x7f' }[key];
}

export function ConsolePane({ context, entry, isShown, isActive }: PaneProps<'console'>) {
  const { lab, dock, attempt } = context;
  const key = keyOf(entry);
  const host = useRef<HTMLDivElement>(null);
  const terminal = useSignal<ConsoleTerminal | undefined>(undefined);
  const finding = useSignal(false);
  const link = useSignal<string | undefined>(undefined);
  const pasting = useSignal<string | undefined>(undefined);
  const slow = useSignal<{ done: number; all: number; stop: AbortController } | undefined>(undefined);
  lab.changes.value; // the node may change
  const node = lab.nodes.get(entry.nodeId);
  const name = node?.name ?? entry.title;
  const path = `${lab.path}/nodes/${entry.nodeId}`;
  const isWatching = lab.whyNotChange !== '';
  const watching = useRef(isWatching);
  /** Typed before the terminal was loaded. */
  const early = useRef('');

  useEffect(() => {
    let over = false;
    // Loaded with the first console.
    void loadPart(() => import('../console/terminal.ts')).then(({ ConsoleTerminal }) => {
      if (over || !host.current) return;
      const made = new ConsoleTerminal(host.current, {
        path: `${path}/console/ws`,
        label: words.terminal(entry.title),
        typed: (text) => {
          if (!watching.current) dock.typed(key, text);
        },
        link: (address) => {
          link.value = address;
        },
        refused: (message) => {
          lab.message.value = message;
        },
        find: () => {
          finding.value = true;
        },
      });
      dock.inputs.set(key, (text) => {
        if (!watching.current) made.send(text);
      });
      terminal.value = made;
    });
    return () => {
      over = true;
      dock.inputs.delete(key);
      slow.peek()?.stop.abort();
      terminal.peek()?.stop();
    };
  }, [path, key, entry.title, dock, terminal, link, finding, slow]);

  const isRunning = node?.status === 'started' || node?.status === 'suspended';
  const open = terminal.value;
  // Layout effects, which run before the next key: it must not reach the map, where it could be a verb.
  useLayoutEffect(() => {
    if (isActive) (open ?? host.current)?.focus();
  }, [open, isActive]);
  useLayoutEffect(() => {
    const { current: element } = host;
    if (open || !element) return;
    const keep = (event: KeyboardEvent): void => {
      const text = typedBy(event);
      if (text === undefined || watching.current) return;
      event.preventDefault();
      early.current += text;
    };
    element.addEventListener('keydown', keep);
    return () => element.removeEventListener('keydown', keep);
  }, [open]);
  useLayoutEffect(() => {
    if (!open) return;
    open.connection.isRunning = isRunning;
    if (early.current !== '') dock.typed(key, early.current);
    early.current = '';
  }, [open, isRunning, dock, key]);
  useEffect(() => {
    const { current: was } = watching;
    watching.current = isWatching;
    // The server drops the input of a connection that was opened view-only, so reconnect.
    if (was && !isWatching) open?.connection.again();
  }, [open, isWatching]);
  useEffect(() => {
    if (open) open.readsAloud = readsAloud.value;
  }, [open, readsAloud.value]);

  const isAsking = pasting.value !== undefined || link.value !== undefined;
  const wasAsking = useRef(false);
  useEffect(() => {
    // Keys go to the terminal again, not to the map. A dialog keeps the focus from it until it has gone.
    if (wasAsking.current && !isAsking) open?.focus();
    wasAsking.current = isAsking;
  }, [open, isAsking]);

  const paste = async (text: string, isSlow: boolean): Promise<void> => {
    pasting.value = undefined;
    if (!isSlow || !open) return open?.paste(text);
    const stop = new AbortController();
    const all = linesOf(text).length;
    const stoppedAt = await pasteSlowly(text, open, {
      signal: stop.signal,
      progress: (done) => {
        slow.value = { done, all, stop };
      },
    });
    slow.value = undefined;
    if (stoppedAt !== undefined) lab.message.value = words.pasteStopped(name, stoppedAt, all);
  };

  useEffect(() => {
    if (!open) return;
    const changing = (actions: MenuEntry[]): MenuEntry[] => (isWatching ? [] : actions);
    dock.offer(key, [
      { id: 'find', words: words.find, run: () => set(finding, true) },
      {
        id: 'copy',
        words: words.copy,
        run: () =>
          void attempt(async () => {
            if (!(await open.copy())) throw new Error(words.notCopied);
          }),
      },
      ...changing([
        { id: 'paste', words: words.paste, run: () => void pastedText().then((text) => set(pasting, text)) },
      ]),
      { id: 'clear', words: words.clear, run: () => open.clear() },
      {
        id: 'save',
        words: words.save,
        run: () => saveFile(`${name}.txt`, new Blob([open.text()], { type: 'text/plain' })),
      },
      ...changing([
        { id: 'break', words: words.sendBreak, run: () => open.sendBreak() },
        { id: 'reset', words: words.reset, run: () => void attempt(() => api.post(`${path}/console/reset`)) },
      ]),
      {
        id: 'reader',
        words: words.readAloud,
        isOn: readsAloud.value,
        run: () => set(readsAloud, !readsAloud.value),
      },
      ownWindow(lab.id, `nodes/${entry.nodeId}/console`),
    ]);
  }, [open, readsAloud.value, name, path, key, dock, attempt, finding, pasting, lab.id, entry.nodeId, isWatching]);

  return (
    <>
      <ConnectionNotice connection={open?.connection} name={name} />
      {isWatching && open && <p class="notice watching">{WORDS.may.typing}</p>}
      {slow.value && (
        <p class="notice" role="status">
          {words.pasting(slow.value.done, slow.value.all)}{' '}
          <Button onClick={() => slow.value?.stop.abort()} text={words.stop} />
        </p>
      )}
      {finding.value && open && (
        <FindBar
          find={(text, direction) => open.find(text, direction)}
          close={() => {
            finding.value = false;
            open.focus();
          }}
        />
      )}
      <div class="console" ref={host} tabIndex={open ? undefined : -1} hidden={!isShown} />
      {link.value !== undefined && <LinkDialog address={link.value} close={() => set(link, undefined)} />}
      {pasting.value !== undefined && (
        <PasteDialog
          text={pasting.value}
          paste={(text, isSlow) => void paste(text, isSlow)}
          close={() => set(pasting, undefined)}
        />
      )}
    </>
  );
}
