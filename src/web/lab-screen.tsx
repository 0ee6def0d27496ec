// One lab: its picture, its lists, what is selected, and its consoles.
import { useSignal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { Dock, type DockEntry } from './console/dock.tsx';
import { api } from './model/api.ts';
import { Lab } from './model/lab.ts';
import { NOTHING, type Selection } from './model/selection.ts';
import type { LinkEnd, NodeObject, TemplateObject } from './model/types.ts';
import { ClosedLab } from './panels/closed-lab.tsx';
import { Inspector } from './panels/inspector.tsx';
import { LabHeader } from './panels/lab-header.tsx';
import { Linking } from './panels/linking.tsx';
import { Lists } from './panels/lists.tsx';
import { Palette } from './panels/palette.tsx';
import { TopologyMap } from './topology/map.ts';
import { WORDS } from './words.ts';

export function LabScreen({ id, go }: { id: string; go: (path: string) => void }) {
  const lab = useMemo(() => new Lab(id), [id]);
  const selection = useSignal<Selection>(NOTHING);
  const consoles = useSignal<readonly DockEntry[]>([]);
  const shownConsole = useSignal('');
  const palette = useSignal(false);
  const linking = useSignal<LinkEnd | 'first' | undefined>(undefined);
  const host = useRef<HTMLElement>(null);
  const map = useRef<TopologyMap | undefined>(undefined);

  const attempt = useCallback(
    async (task: () => Promise<unknown>): Promise<boolean> => {
      lab.message.value = '';
      try {
        await task();
        return true;
      } catch (error) {
        lab.message.value = error instanceof Error ? error.message : String(error);
        return false;
      }
    },
    [lab],
  );

  const openConsole = useCallback(
    (nodeId: string): void => {
      const node = lab.nodes.get(nodeId);
      if (!node) return;
      if (node.console_type !== 'telnet') {
        lab.message.value = `${node.name}: its console is of type ${node.console_type ?? 'none'}, which the page does not show.`;
        return;
      }
      if (!consoles.value.some((entry) => entry.id === nodeId)) {
        consoles.value = [...consoles.value, { id: nodeId, name: node.name }];
      }
      shownConsole.value = nodeId;
    },
    [lab, consoles, shownConsole],
  );

  useEffect(() => {
    lab.start();
    addEventListener('keydown', nextPane);
    return () => {
      removeEventListener('keydown', nextPane);
      lab.stop();
    };
  }, [lab]);

  useEffect(() => {
    document.title = lab.project.value ? `${lab.project.value.name} - Labwire` : 'Labwire';
  }, [lab, lab.project.value]);

  const isOpen = lab.state.value === 'open';
  useEffect(() => {
    if (!isOpen || !host.current) return;
    const drawn = new TopologyMap(host.current, lab, {
      select: (nodes, link) => {
        selection.value = { nodes, link };
      },
      open: openConsole,
      moved: (nodes) => {
        void attempt(() =>
          Promise.all(nodes.map(({ node_id, x, y }) => api.put(`${lab.path}/nodes/${node_id}`, { x, y }))),
        ).then(() => drawn.release(nodes.map(({ node_id }) => node_id)));
      },
    });
    map.current = drawn;
    return () => {
      map.current = undefined;
      drawn.stop();
    };
  }, [isOpen, lab, attempt, openConsole, selection]);

  const select = (chosen: Selection): void => {
    selection.value = chosen;
    map.current?.select(chosen.nodes, chosen.link);
  };

  const selectedNodes = (): NodeObject[] => selection.value.nodes.flatMap((nodeId) => lab.nodes.get(nodeId) ?? []);

  const verb = (action: string): void => {
    for (const node of selectedNodes()) void attempt(() => api.post(`${lab.path}/nodes/${node.node_id}/${action}`));
  };

  const remove = (): void => {
    const nodes = selectedNodes();
    const { link } = selection.value;
    if (link !== undefined) void attempt(() => api.delete(`${lab.path}/links/${link}`));
    else if (
      nodes.length > 0 &&
      confirm(`${WORDS.remove} ${nodes.map(({ name }) => name).join(', ')}? Their disks go, too.`)
    ) {
      for (const node of nodes) void attempt(() => api.delete(`${lab.path}/nodes/${node.node_id}`));
    } else return;
    select(NOTHING);
  };

  const place = (template: TemplateObject): void => {
    palette.value = false;
    const { x, y } = map.current?.middle() ?? { x: 0, y: 0 };
    // Not upon each other: the next one stands a little aside.
    const aside = (lab.nodes.size % 8) * 75;
    const body = { x: x - 33 + aside - 150, y: y - 30, compute_id: template.compute_id ?? 'local' };
    void attempt(() => api.post(`${lab.path}/templates/${template.template_id}`, body));
    host.current?.focus();
  };

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
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A button upon the picture has its own keys, but for the way out.
    if (event.target !== event.currentTarget && event.key !== 'Escape') return;
    const [first] = selection.value.nodes;
    const actions: Record<string, () => void> = {
      n: () => {
        palette.value = true;
      },
      l: () => {
        linking.value = 'first';
      },
      f: () => map.current?.fit(),
      '+': () => map.current?.zoom(1.25),
      '-': () => map.current?.zoom(0.8),
      s: () => verb('start'),
      x: () => verb('stop'),
      r: () => verb('reload'),
      c: () => first && openConsole(first),
      Enter: () => first && openConsole(first),
      Delete: remove,
      Escape: () => {
        linking.value = undefined;
        select(NOTHING);
      },
      ArrowRight: () => step(1),
      ArrowDown: () => step(1),
      ArrowLeft: () => step(-1),
      ArrowUp: () => step(-1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  /** Selects the next or the previous node, in the order of their names. */
  const step = (by: 1 | -1): void => {
    const order = [...lab.nodes.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    if (order.length === 0) return;
    const at = order.findIndex(({ node_id }) => node_id === selection.value.nodes[0]);
    const next = order[(at + by + order.length) % order.length] ?? order[0]!;
    select({ nodes: [next.node_id], link: undefined });
    map.current?.show(next.node_id);
  };

  if (lab.state.value !== 'open') return <ClosedLab lab={lab} go={go} attempt={attempt} />;
  return (
    <div class="lab">
      <LabHeader lab={lab} go={go}>
        <div class="tools" role="toolbar" aria-label={WORDS.actions}>
          <button type="button" onClick={() => void attempt(() => api.post(`${lab.path}/nodes/start`))}>
            {WORDS.startAll}
          </button>
          <button type="button" onClick={() => void attempt(() => api.post(`${lab.path}/nodes/stop`))}>
            {WORDS.stopAll}
          </button>
          <button
            type="button"
            onClick={() => {
              palette.value = true;
            }}
          >
            {WORDS.addNode}
          </button>
          <button
            type="button"
            aria-pressed={linking.value !== undefined}
            onClick={() => {
              linking.value = linking.value === undefined ? 'first' : undefined;
            }}
          >
            {WORDS.addLink}
          </button>
          <button type="button" onClick={() => map.current?.fit()}>
            {WORDS.fit}
          </button>
        </div>
      </LabHeader>
      <p class="message" role="alert">
        {lab.message}
      </p>
      <Lists lab={lab} selection={selection} select={select} show={(nodeId) => map.current?.show(nodeId)} />
      <main
        class="map"
        data-pane
        ref={host}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the picture is a pane of its own, which keys work in
        tabIndex={0}
        aria-label={WORDS.topology}
        aria-describedby="keys"
        onKeyDown={keys}
      >
        <p id="keys" class="hidden">
          {WORDS.help}
        </p>
        {lab.changes.value >= 0 && lab.nodes.size === 0 && <p class="empty">{WORDS.emptyLab}</p>}
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
      <Inspector
        lab={lab}
        selection={selection}
        attempt={attempt}
        openConsole={openConsole}
        select={select}
        remove={remove}
      />
      <Dock lab={lab} entries={consoles} shown={shownConsole} />
      {palette.value && (
        <Palette
          choose={place}
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
