// The VNC display of a node as a tab of the dock.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Display } from '../console/display.ts';
import { copyText } from '../model/browser/clipboard.ts';
import { loadPart } from '../model/server/lazy-load.ts';
import { Button } from '../panels/button.tsx';
import type { MenuEntry } from '../panels/menu.tsx';
import { WORDS } from '../words.ts';
import { keyOf } from './entries.ts';
import { ConnectionNotice } from './notice.tsx';
import { ownWindow } from './own-window.ts';
import type { PaneProps } from './pane.ts';

const words = WORDS.display;

export function DisplayPane({ context, entry, isShown, isActive }: PaneProps<'vnc'>) {
  const { lab, dock } = context;
  const key = keyOf(entry);
  const host = useRef<HTMLDivElement>(null);
  const display = useSignal<Display | undefined>(undefined);
  const offered = useSignal('');
  const hasClipboard = useSignal(false);
  const asksPassword = useSignal<'no' | 'yes' | 'again'>('no');
  lab.changes.value; // the node may change
  const node = lab.nodes.get(entry.nodeId);
  const path = `${lab.path}/nodes/${entry.nodeId}/console/vnc`;
  const isWatched = lab.whyNotChange !== '';
  const watched = useRef(isWatched);
  watched.current = isWatched;

  useEffect(() => {
    let over = false;
    void loadPart(() => import('../console/display.ts')).then(({ Display }) => {
      if (over || !host.current) return;
      display.value = new Display(host.current, {
        path,
        label: words.title(entry.title),
        isWatched: watched.current,
        offered: (text) => {
          offered.value = text;
        },
        askPassword: (isAgain) => {
          asksPassword.value = isAgain ? 'again' : 'yes';
        },
      });
    });
    return () => {
      over = true;
      display.peek()?.stop();
    };
  }, [path, entry.title, display, offered, asksPassword]);

  const hasDisplay = node === undefined || node.console_type === 'vnc';
  const isRunning = hasDisplay && (node?.status === 'started' || node?.status === 'suspended');
  const open = display.value;
  const state = open?.connection.state.value ?? 'connecting';
  useEffect(() => {
    if (open) open.connection.isRunning = isRunning;
  }, [open, isRunning]);
  useEffect(() => {
    if (open) open.isWatched = isWatched;
  }, [open, isWatched]);
  useEffect(() => {
    if (isActive && state === 'open') open?.focus();
  }, [open, isActive, state]);
  useEffect(() => {
    if (!open) return;
    const changing: MenuEntry[] = [
      { id: 'ctrl-alt-del', words: words.ctrlAltDel, run: () => open.sendCtrlAltDel() },
      {
        id: 'clipboard',
        words: words.clipboard,
        isOn: hasClipboard.value,
        run: () => {
          hasClipboard.value = !hasClipboard.value;
        },
      },
    ];
    dock.offer(key, [...(isWatched ? [] : changing), ownWindow(lab.id, `nodes/${entry.nodeId}/console`)]);
  }, [open, hasClipboard.value, key, dock, hasClipboard, lab.id, entry.nodeId, isWatched]);

  return (
    <>
      {hasDisplay ? (
        <ConnectionNotice connection={open?.connection} name={node?.name ?? entry.title} />
      ) : (
        <p class="notice" role="status">
          {words.none(node.name)}
        </p>
      )}
      {isWatched && hasDisplay && open && <p class="notice watching">{WORDS.may.pointing}</p>}
      {asksPassword.value === 'again' && (
        <p class="notice" role="alert">
          {words.wrongPassword}
        </p>
      )}
      {asksPassword.value !== 'no' && (
        <Field
          label={words.password}
          type="password"
          send={(text) => {
            asksPassword.value = 'no';
            open?.logIn(text);
          }}
        />
      )}
      {hasClipboard.value && !isWatched && (
        <div class="clipboard">
          <Field label={words.toMachine} send={(text) => open?.give(text)} />
          <label>
            {words.fromMachine} <input readOnly value={offered.value} />
          </label>
          <Button onClick={() => void copyText(offered.value)} text={WORDS.console.copy} />
        </div>
      )}
      <div class="display" ref={host} hidden={!isShown} />
    </>
  );
}

function Field({
  label,
  type = 'text',
  send,
}: {
  label: string;
  type?: 'text' | 'password';
  send(text: string): void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const common = { ref: field, 'aria-label': label, placeholder: label, autocomplete: 'off' } as const;
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault();
        send(field.current?.value ?? '');
      }}
    >
      {type === 'password' ? <input type="password" {...common} /> : <input type="text" {...common} />}
      <Button type="submit" class="main" text={words.send} />
    </form>
  );
}
