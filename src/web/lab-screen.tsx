// The screen of a lab: map, lists, inspector and dock.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { announce } from './announce.ts';
import { Dock } from './dock/dock.tsx';
import { LabContext } from './lab-context.ts';
import { useShares } from './model/account/permissions.ts';
import { newShape } from './model/lab/drawing.ts';
import { noteLeaving, noteVisit } from './model/lab/leave-lab.ts';
import { ClosedLab } from './panels/closed-lab.tsx';
import { ContextMenu } from './panels/context-menu.tsx';
import { Inspector } from './panels/inspector/inspector.tsx';
import { LabHeader } from './panels/lab-header.tsx';
import { LabNotices } from './panels/lab-notices.tsx';
import { lazily } from './panels/lazy-component.tsx';
import { LinkingPanel } from './panels/linking.tsx';
import { Lists } from './panels/lists.tsx';
import { closeDrawer, PaneButtons, shownPane } from './panels/narrow-window.tsx';
import { Palette } from './panels/palette.tsx';
import { Rename } from './panels/rename.tsx';
import { VerbButton } from './panels/verb-button.tsx';
import { keyName } from './shell/key-text.ts';
import { shownLab } from './shell/shown-lab.ts';
// Loaded with the lab, so that the question before a deletion is there at once.
import './tasks/confirmation.tsx';
import { TopologyMap } from './topology/map.ts';
import { followLoad } from './topology/node-load.ts';
import { followTraffic } from './topology/traffic.ts';
import { openConsole } from './verbs/nodes.ts';
import { verbOfKey, whyNotKey } from './verbs.ts';
import { WORDS } from './words.ts';

/** The toolbar above the map, in groups. */
const TOOLS: readonly (readonly string[])[] = [
  ['lab.start', 'lab.stop'],
  ['lab.node', 'lab.link'],
  ['lab.text', 'lab.rectangle', 'lab.ellipse', 'lab.line'],
  ['lab.undo', 'lab.redo'],
  ['lab.traffic', 'lab.arrange', 'lab.fit'],
  ['lab.snapshots', 'lab.export'],
];
/** Buttons that leave most keys to the map: a tool, or a row of the lists, stays focused after a click. */
const KEYS_TO_MAP = '.lab > header button, .lists [role="listitem"] button';
/** Their own keys. */
const BUTTON_KEYS = ['Enter', ' ', 'Tab', 'Escape', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End'];

/** Tools with well-known icons, shown without text. */
const WITHOUT_WORDS: readonly string[] = [
  'lab.arrange',
  'lab.rectangle',
  'lab.ellipse',
  'lab.line',
  'lab.undo',
  'lab.redo',
];

const ArrangePanel = lazily<{ context: LabContext; ids: readonly string[] | 'all' }>(
  async () => (await import('./arrange/arrange-panel.tsx')).ArrangePanel,
);

export function LabScreen({ id, go }: { id: string; go: (path: string) => void }) {
  const context = useMemo(() => new LabContext(id, go), [id, go]);
  const { lab, attempt, selection, palette, linking, moving, drawing } = context;
  const host = useRef<HTMLElement>(null);
  const map = useRef<TopologyMap | undefined>(undefined);

  useEffect(() => {
    lab.start();
    shownLab.value = context;
    noteVisit(id);
    const stopAnnouncing = announce(context);
    // In the capture phase, before terminals and displays take the key.
    addEventListener('keydown', nextPane, true);
    return () => {
      removeEventListener('keydown', nextPane, true);
      stopAnnouncing();
      shownLab.value = undefined;
      noteLeaving(lab);
      lab.stop();
    };
  }, [context, lab, id]);

  useShares(lab.project.value);
  const isShown = lab.isShown;
  useEffect(() => {
    if (!isShown || !host.current) return;
    // The hint how to begin is there.
    if (lab.nodes.size + lab.drawings.size === 0) context.pane.value ??= 'map';
    const drawn = new TopologyMap(host.current, context, {
      open: (nodeId) => openConsole(context, nodeId),
      connect: (from, to, { clientX: x, clientY: y, ctrlKey, metaKey }) => {
        context.linking.value = { from, to, at: { x, y }, isQuick: ctrlKey || metaKey };
      },
    });
    map.current = drawn;
    context.map = drawn;
    const followers = [followTraffic(context), followLoad(context)];
    return () => {
      for (const stop of followers) stop();
      map.current = undefined;
      context.map = undefined;
      drawn.stop();
    };
  }, [isShown, context]);

  // Keys pressed while nothing has the focus also go to the map.
  const pressedNowhere = useRef((_event: KeyboardEvent): void => {});
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => pressedNowhere.current(event);
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);

  const keys = (event: KeyboardEvent): void => {
    // Buttons and fields on the map keep their own keys, except Escape.
    const isMap = (event.target as Element).matches('.map, .topology');
    if (!isMap && event.key !== 'Escape') return;
    // The drawer covers the map, so the selection stays.
    if (isMap && event.key === 'Escape' && closeDrawer(context)) {
      event.preventDefault();
      return;
    }
    if (press(event)) event.preventDefault();
  };

  /** True if the map handles the key. */
  const press = (event: KeyboardEvent): boolean =>
    map.current?.press(event, () => {
      if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) {
        const { nodes, link, drawings } = selection.value;
        context.menu.value = map.current!.pointOf(nodes.at(-1) ?? link ?? drawings.at(-1));
        return true;
      }
      const [at] = selection.value.nodes;
      const { from } = linking.value ?? {};
      if (linking.value && event.key === 'Enter' && at !== undefined && at !== from) {
        linking.value = from === undefined ? { from: at } : { from, to: at };
        return true;
      }
      if (drawing.value && event.key === 'Enter') {
        context.draw(newShape(drawing.value));
        return true;
      }
      if (selection.value.link !== undefined && /^\d$/.test(keyName(event)) && lab.whyNotChange === '') {
        context.typedDelay.value += event.key;
        context.pane.value = 'details';
        return true;
      }
      const verb = verbOfKey(keyName(event), context);
      verb?.run(context);
      if (verb) return true;
      const why = whyNotKey(keyName(event), context);
      if (why !== '') lab.notice.value = why;
      return why !== '';
    }) ?? false;

  pressedNowhere.current = (event) => {
    const target = event.target as Element;
    const isButton = target.matches(KEYS_TO_MAP) && !BUTTON_KEYS.includes(event.key);
    const isFree = (target === document.body || isButton) && document.querySelector('dialog[open]') === null;
    // The Tab key enters the page at its beginning.
    if (!isFree || event.defaultPrevented || event.key === 'Tab' || !press(event)) return;
    event.preventDefault();
    if ([document.body, target].includes(document.activeElement!)) map.current?.focus();
  };

  /** Escape inside a drawer closes it. */
  const leaveDrawer = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    if (!(event.target as Element).closest('.lists, .inspector, .panes') || !closeDrawer(context)) return;
    event.preventDefault();
    event.stopPropagation();
    map.current?.focus();
  };

  const pressed: Readonly<Record<string, boolean>> = {
    'lab.node': palette.value,
    'lab.link': linking.value !== undefined,
    'lab.rectangle': drawing.value === 'rect',
    'lab.ellipse': drawing.value === 'ellipse',
    'lab.line': drawing.value === 'line',
    'lab.arrange': context.arranging.value === 'all',
    'lab.traffic': context.traffic.value,
  };

  if (!isShown) return <ClosedLab lab={lab} attempt={attempt} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key is that of the drawers in it
    <div class="lab" data-state={lab.state.value} data-shown={shownPane(context)} onKeyDown={leaveDrawer}>
      <LabHeader lab={lab}>
        <div class="tools" role="toolbar" aria-label={WORDS.common.actions}>
          {TOOLS.map((group) => (
            <div key={group[0]} class="group">
              {group.map((verb) => (
                <VerbButton
                  key={verb}
                  context={context}
                  id={verb}
                  icon={WITHOUT_WORDS.includes(verb) ? 'alone' : true}
                  {...(verb in pressed && { isPressed: pressed[verb] })}
                />
              ))}
            </div>
          ))}
        </div>
        <PaneButtons context={context} />
      </LabHeader>
      <LabNotices context={context} />
      <p class="hidden" role="status">
        {context.said}
      </p>
      <Lists context={context} />
      <main
        class={drawing.value ? 'map drawn-upon' : 'map'}
        data-pane
        ref={host}
        tabIndex={-1}
        aria-label={WORDS.lab.topology}
        onFocus={({ target, currentTarget }) => {
          if (target === currentTarget) map.current?.focus();
        }}
        onPointerDown={() => closeDrawer(context)}
        onScroll={({ currentTarget }) => currentTarget.scrollTo(0, 0)}
        onKeyDown={keys}
      >
        <p id="keys" class="hidden">
          {WORDS.lab.keys}
        </p>
        {lab.changes.value >= 0 && lab.nodes.size + lab.drawings.size === 0 && !palette.value && (
          <p class="empty">{lab.whyNotChange === '' ? WORDS.lab.empty : WORDS.may.emptyLab}</p>
        )}
        {(moving.value || drawing.value) && (
          <p class="hint" role="status">
            {moving.value ? WORDS.lab.moving : WORDS.lab.drawing}
          </p>
        )}
        <Rename key={context.renaming.value} context={context} />
        <div class="upon">
          {palette.value && lab.whyNotChange === '' && <Palette context={context} />}
          <LinkingPanel context={context} />
          {context.arranging.value && (
            <ArrangePanel key={String(context.arranging.value)} context={context} ids={context.arranging.value} />
          )}
        </div>
      </main>
      <Inspector context={context} />
      <Dock context={context} />
      <ContextMenu context={context} />
    </div>
  );
}

/** F6 and Shift+F6 switch panes, also out of a terminal, which keeps the Tab key. */
function nextPane(event: KeyboardEvent): void {
  if (event.key !== 'F6') return;
  event.preventDefault();
  event.stopPropagation();
  const panes = [...document.querySelectorAll<HTMLElement>('[data-pane]')].filter((pane) =>
    (pane.querySelector('.topology') ?? pane).checkVisibility({ visibilityProperty: true }),
  );
  const at = panes.findIndex((pane) => pane.contains(document.activeElement));
  const next = panes[(at + (event.shiftKey ? -1 : 1) + panes.length) % panes.length];
  const target = next?.matches('[tabindex]')
    ? next
    : next?.querySelector<HTMLElement>('a, :is(button, input, textarea):not(:disabled)');
  target?.focus();
}
