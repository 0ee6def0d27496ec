// The tabs below the map. Hidden tabs stay connected; several can be shown side by side.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { Button } from '../panels/button.tsx';
import { MenuButton } from '../panels/menu-button.tsx';
import { WORDS } from '../words.ts';
import { CapturePane } from './capture.tsx';
import { ConsolePane } from './console.tsx';
import { DisplayPane } from './display.tsx';
import { type DockEntry, type DockKind, keyOf } from './entries.ts';
import { MergedPane } from './merged.tsx';
import type { PaneProps } from './pane.ts';
import { DockSize } from './size.tsx';

const words = WORDS.dock;

/** The component of each kind of tab. */
const PANES: { readonly [K in DockKind]: ComponentType<PaneProps<K>> } = {
  console: ConsolePane,
  capture: CapturePane,
  merged: MergedPane,
  vnc: DisplayPane,
};

/** @param isAlone whether it fills the whole window */
export function Dock({ context, isAlone = false }: { context: LabContext; isAlone?: boolean }) {
  const { dock } = context;
  const { list, shown } = dock;
  const host = useRef<HTMLElement>(null);
  const isFull = useSignal(isAlone);
  useEffect(() => {
    // On a phone it is below everything else.
    if (shown.value !== '') host.current?.scrollIntoView({ block: 'nearest' });
  }, [shown.value]);
  if (list.value.length === 0) return null;
  const columns = 1 + dock.beside.value.length;
  return (
    <section class={isFull.value ? 'dock full' : 'dock'} data-pane aria-label={words.title} ref={host}>
      {!isAlone && (
        <DockSize
          dock={host}
          isFull={isFull.value}
          hasPackets={list.value.some(({ kind }) => kind === 'capture' || kind === 'merged')}
        />
      )}
      <div class="tabs">
        <div class="tab-list">
          {list.value.map((entry) => (
            <TabButtons key={keyOf(entry)} context={context} entry={entry} isAlone={isAlone} />
          ))}
        </div>
        <div class="tab-tools">
          {!isAlone && (
            <>
              <Button disabled={!dock.canSplit} onClick={() => dock.split()} text={words.split} />
              {columns > 1 && <Button onClick={() => dock.unsplit()} text={words.unsplit} />}
              <Button
                aria-pressed={dock.sendsToAll.value}
                onClick={() => {
                  dock.sendsToAll.value = !dock.sendsToAll.value;
                }}
                text={words.sendToAll}
              />
              <Button
                aria-pressed={isFull.value}
                onClick={() => {
                  isFull.value = !isFull.value;
                }}
                text={words.full}
              />
            </>
          )}
          <MenuButton label={words.actions} entries={dock.actions.value.get(shown.value) ?? []} />
        </div>
      </div>
      {dock.sendsToAll.value && (
        <p class="notice" role="status">
          {words.sendsToAll(list.value.filter(({ kind }) => kind === 'console').length)}
        </p>
      )}
      <div class="panes">
        {list.value.map((entry) => {
          const key = keyOf(entry);
          const Pane = PANES[entry.kind] as ComponentType<PaneProps<DockKind>>;
          const isShown = dock.isVisible(key);
          return (
            <div
              key={key}
              class={columns > 1 && shown.value === key ? 'pane active' : 'pane'}
              hidden={!isShown}
              onFocusIn={() => dock.show(key)}
            >
              <Pane context={context} entry={entry} isShown={isShown} isActive={shown.value === key} />
            </div>
          );
        })}
      </div>
    </section>
  );
}

function TabButtons({ context, entry, isAlone }: { context: LabContext; entry: DockEntry; isAlone: boolean }) {
  const { dock } = context;
  context.lab.changes.value; // the name of the node may change
  const key = keyOf(entry);
  const title = titleOf(context, entry);
  return (
    <span class="tab">
      <Button aria-pressed={dock.isVisible(key)} onClick={() => dock.show(key)} text={title} />
      {!isAlone && (
        <Button
          aria-label={`${WORDS.common.close} ${title}`}
          onClick={() => {
            dock.close(key);
            if (dock.list.value.length === 0) context.map?.focus();
          }}
          text="×"
        />
      )}
    </span>
  );
}

/** The current name of the node, if it exists. */
function titleOf({ lab }: LabContext, entry: DockEntry): string {
  return ('nodeId' in entry && lab.nodes.get(entry.nodeId)?.name) || entry.title;
}
