// The tabs below the map. Each lives on while another one is shown.
import type { ComponentType } from 'preact';
import type { LabContext } from '../lab-context.ts';
import { WORDS } from '../words.ts';
import { CapturePane } from './capture.tsx';
import { ConsolePane } from './console.tsx';
import { type DockEntry, type DockKind, keyOf } from './entries.ts';
import type { PaneProps } from './pane.ts';

/** The component of each kind of tab. */
const PANES: { readonly [K in DockKind]: ComponentType<PaneProps<K>> } = {
  console: ConsolePane,
  capture: CapturePane,
};

export function Dock({ context }: { context: LabContext }) {
  const { list, shown } = context.dock;
  context.lab.changes.value; // names of nodes may change
  if (list.value.length === 0) return null;
  return (
    <section class="dock" data-pane aria-label={WORDS.dock.title}>
      <div class="tabs">
        {list.value.map((entry) => {
          const key = keyOf(entry);
          const title = titleOf(context, entry);
          return (
            <span key={key} class="tab">
              <button
                type="button"
                aria-pressed={shown.value === key}
                onClick={() => {
                  shown.value = key;
                }}
              >
                {title}
              </button>
              <button
                type="button"
                aria-label={`${WORDS.common.close} ${title}`}
                onClick={() => context.dock.close(key)}
              >
                ×
              </button>
            </span>
          );
        })}
      </div>
      {list.value.map((entry) => {
        const key = keyOf(entry);
        const Pane = PANES[entry.kind] as ComponentType<PaneProps<DockKind>>;
        return <Pane key={key} context={context} entry={entry} isShown={shown.value === key} />;
      })}
    </section>
  );
}

/** The name that the node has now, if it is there. */
function titleOf({ lab }: LabContext, entry: DockEntry): string {
  return ('nodeId' in entry && lab.nodes.get(entry.nodeId)?.name) || entry.title;
}
