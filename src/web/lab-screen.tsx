// One lab: its picture, its lists, what is selected, and its dock.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Dock } from './dock/dock.tsx';
import { LabContext, shownLab } from './lab-context.ts';
import { api } from './model/api.ts';
import { noteLeaving, noteVisit } from './model/left-lab.ts';
import type { LinkEnd } from './model/types.ts';
import { ClosedLab } from './panels/closed-lab.tsx';
import { Inspector } from './panels/inspector/inspector.tsx';
import { LabHeader } from './panels/lab-header.tsx';
import { LabNotices } from './panels/lab-notices.tsx';
import { Linking } from './panels/linking.tsx';
import { Lists } from './panels/lists.tsx';
import { Palette } from './panels/palette.tsx';
import { VerbButton } from './panels/verb-button.tsx';
import { TopologyMap } from './topology/map.ts';
import { openConsole } from './verbs/nodes.ts';
import { keyName, verbOfKey } from './verbs.ts';
import { WORDS } from './words.ts';

export function LabScreen({ id, go }: { id: string; go: (path: string) => void }) {
  const context = useMemo(() => new LabContext(id, go), [id, go]);
  const { lab, attempt, selection, palette, linking } = context;
  const host = useRef<HTMLElement>(null);

  useEffect(() => {
    lab.start();
    shownLab.value = context;
    noteVisit(id);
    addEventListener('keydown', nextPane);
    return () => {
      removeEventListener('keydown', nextPane);
      shownLab.value = undefined;
      noteLeaving(lab);
      lab.stop();
    };
  }, [context, lab, id]);

  useEffect(() => {
    document.title = lab.project.value ? `${lab.project.value.name} - Labwire` : 'Labwire';
  }, [lab, lab.project.value]);

  const isShown = lab.isShown;
  useEffect(() => {
    if (!isShown || !host.current) return;
    const drawn = new TopologyMap(host.current, lab, {
      select: (chosen) => {
        context.selection.value = chosen;
      },
      open: (nodeId) => openConsole(context, nodeId),
      moved: (nodes) => {
        void attempt(() =>
          Promise.all(nodes.map(({ node_id, x, y }) => api.put(`${lab.path}/nodes/${node_id}`, { x, y }))),
        ).then(() => drawn.release(nodes.map(({ node_id }) => node_id)));
      },
    });
    context.map = drawn;
    return () => {
      context.map = undefined;
      drawn.stop();
    };
  }, [isShown, lab, attempt, context]);

  /** A node was chosen while a link is being made: the first end, or the whole link. */
  const joined = (end: LinkEnd): void => {
    const first = linking.value;
    if (first === undefined) return;
    if (first === 'first') {
      linking.value = end;
      return;
    }
    linking.value = 'first';
    void attempt(() => api.post(`${lab.path}/links`, { nodes: [first, end] }));
  };

  const keys = (event: KeyboardEvent): void => {
    // A button upon the picture has its own keys, but for the way out.
    if (event.target !== event.currentTarget && event.key !== 'Escape') return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const verb = verbOfKey(keyName(event), context);
    if (!verb && step === undefined) return;
    event.preventDefault();
    if (verb) verb.run(context);
    else if (step !== undefined) selectNext(step);
  };

  /** Selects the next or the previous node, in the order of their names. */
  const selectNext = (by: number): void => {
    const order = [...lab.nodes.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    if (order.length === 0) return;
    const at = order.findIndex(({ node_id }) => node_id === selection.value.nodes[0]);
    const next = order[(at + by + order.length) % order.length] ?? order[0]!;
    context.select({ nodes: [next.node_id] });
    context.map?.show(next.node_id);
  };

  if (!isShown) return <ClosedLab lab={lab} attempt={attempt} />;
  return (
    <div class="lab" data-state={lab.state.value}>
      <LabHeader lab={lab}>
        <div class="tools" role="toolbar" aria-label={WORDS.common.actions}>
          <VerbButton context={context} id="lab.start" />
          <VerbButton context={context} id="lab.stop" />
          <VerbButton context={context} id="lab.node" />
          <VerbButton context={context} id="lab.link" isPressed={linking.value !== undefined} />
          <VerbButton context={context} id="lab.fit" />
        </div>
      </LabHeader>
      <LabNotices context={context} />
      <Lists context={context} />
      <main
        class="map"
        data-pane
        ref={host}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the picture is a pane of its own, which keys work in
        tabIndex={0}
        aria-label={WORDS.lab.topology}
        aria-describedby="keys"
        onKeyDown={keys}
      >
        <p id="keys" class="hidden">
          {WORDS.lab.keys}
        </p>
        {lab.changes.value >= 0 && lab.nodes.size === 0 && <p class="empty">{WORDS.lab.empty}</p>}
        {linking.value !== undefined && (
          <Linking
            lab={lab}
            first={linking.value}
            chosen={selection.value.nodes[0]}
            choose={joined}
            cancel={() => {
              linking.value = undefined;
            }}
          />
        )}
      </main>
      <Inspector context={context} />
      <Dock context={context} />
      {palette.value && (
        <Palette
          choose={context.place}
          close={() => {
            palette.value = false;
          }}
        />
      )}
    </div>
  );
}

/** F6 and Shift+F6 go from pane to pane, also out of a terminal, which keeps the Tab key. */
function nextPane(event: KeyboardEvent): void {
  if (event.key !== 'F6') return;
  event.preventDefault();
  const panes = [...document.querySelectorAll<HTMLElement>('[data-pane]')];
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(at + (event.shiftKey ? -1 : 1) + panes.length) % panes.length];
  const target = next?.matches('[tabindex]') ? next : next?.querySelector<HTMLElement>('button, input, a, textarea');
  target?.focus();
}
