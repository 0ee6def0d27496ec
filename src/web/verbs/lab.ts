// Verbs for the whole lab.
import type { ViewSetting } from '../model/browser/view-settings.ts';
import { type Drawn, newShape } from '../model/lab/drawing.ts';
import { api } from '../model/server/api.ts';
import type { ProjectObject } from '../model/server/types.ts';
import { focusShown } from '../shell/focus.ts';
import { showExport, showSnapshots } from '../tasks/dialogs.tsx';
import { WORDS } from '../words.ts';
import { openMerged } from './link.ts';
import { noticeGone } from './nodes-and-drawings.ts';
import { inScope, type LabVerb, type Unscoped } from './verb.ts';

const words = WORDS.lab;
const ZOOM = 1.25;

export const LAB_VERBS = inScope('lab', [
  {
    id: 'lab.start',
    words: words.startAll,
    run: ({ lab, attempt }) => void attempt(() => api.post(`${lab.path}/nodes/start`)),
  },
  {
    id: 'lab.stop',
    words: words.stopAll,
    run: ({ lab, attempt }) => void attempt(() => api.post(`${lab.path}/nodes/stop`)),
  },
  {
    id: 'lab.node',
    words: words.addNode,
    keys: ['n'],
    startsGroup: true,
    run: ({ palette }) => {
      palette.value = true;
    },
  },
  {
    id: 'lab.link',
    words: words.addLink,
    keys: ['l'],
    run: ({ linking, selection }) => {
      const [at] = selection.value.nodes;
      linking.value = linking.value ? undefined : at === undefined ? {} : { from: at };
    },
  },
  {
    id: 'lab.text',
    menu: 'draw',
    words: words.addText,
    keys: ['t'],
    startsGroup: true,
    run: ({ draw }) => draw(newShape('text')),
  },
  { id: 'lab.rectangle', menu: 'draw', words: words.addRectangle, run: drawn('rect') },
  { id: 'lab.ellipse', menu: 'draw', words: words.addEllipse, run: drawn('ellipse') },
  { id: 'lab.line', menu: 'draw', words: words.addLine, run: drawn('line') },
  {
    id: 'lab.arrange',
    words: WORDS.arrange.all,
    startsGroup: true,
    enabled: ({ lab }) => {
      lab.changes.value; // nodes come and go
      return lab.nodes.size > 1;
    },
    run: ({ arranging }) => {
      arranging.value = arranging.value ? undefined : 'all';
    },
  },
  {
    id: 'lab.undo',
    menu: 'edit',
    words: WORDS.undo.undo,
    keys: ['Ctrl+z'],
    startsGroup: true,
    enabled: ({ history }) => history.undoable.value > 0,
    run: ({ history, attempt }) => void attempt(() => history.undo()),
  },
  {
    id: 'lab.redo',
    menu: 'edit',
    words: WORDS.undo.redo,
    keys: ['Ctrl+Shift+z', 'Ctrl+y'],
    enabled: ({ history }) => history.redoable.value > 0,
    run: (context) => void context.attempt(async () => noticeGone(context, await context.history.redo())),
  },
  {
    id: 'lab.traffic',
    menu: 'show',
    words: words.traffic,
    keys: ['u'],
    isReading: () => true,
    check: { words: words.traffic, isOn: ({ traffic }) => traffic.value },
    run: ({ traffic }) => {
      traffic.value = !traffic.value;
    },
  },
  {
    id: 'lab.load',
    menu: 'show',
    words: words.load,
    isReading: () => true,
    check: { words: words.load, isOn: ({ hasLoad }) => hasLoad.value },
    run: ({ hasLoad }) => {
      hasLoad.value = !hasLoad.value;
    },
  },
  {
    id: 'lab.fit',
    menu: 'zoom',
    words: words.fit,
    keys: ['f'],
    isLocal: true,
    run: ({ map }) => map?.fit(),
  },
  {
    id: 'lab.enlarge',
    menu: 'zoom',
    words: words.zoomIn,
    keys: ['+', '='],
    isLocal: true,
    run: ({ map }) => map?.zoom(ZOOM),
  },
  {
    id: 'lab.reduce',
    menu: 'zoom',
    words: words.zoomOut,
    keys: ['-'],
    isLocal: true,
    run: ({ map }) => map?.zoom(1 / ZOOM),
  },
  {
    id: 'lab.actual',
    menu: 'zoom',
    words: words.actualSize,
    keys: ['1'],
    isLocal: true,
    run: ({ map }) => map?.actualSize(),
  },
  {
    id: 'lab.selection',
    menu: 'zoom',
    words: words.showSelection,
    keys: ['z'],
    isLocal: true,
    enabled: ({ selection: { value } }) => value.nodes.length + value.drawings.length > 0 || value.link !== undefined,
    run: ({ map }) => map?.showSelection(),
  },
  {
    id: 'lab.captures',
    menu: 'files',
    words: WORDS.capture.merge,
    startsGroup: true,
    isLocal: true,
    enabled: ({ lab }) => {
      lab.changes.value; // captures start and stop
      return [...lab.links.values()].some(({ capturing }) => capturing);
    },
    run: openMerged,
  },
  {
    id: 'lab.snapshots',
    menu: 'files',
    words: words.snapshots,
    isReading: () => true,
    run: ({ lab }) => showSnapshots(lab.id, lab.project.value?.name ?? ''),
  },
  {
    id: 'lab.export',
    menu: 'files',
    words: words.export,
    isReading: () => true,
    run: ({ lab }) => showExport([{ project_id: lab.id, name: lab.project.value?.name ?? '' }]),
  },
  {
    id: 'lab.find',
    menu: 'edit',
    words: words.find,
    keys: ['/'],
    startsGroup: true,
    isLocal: true,
    run: ({ pane }) => {
      pane.value = 'lists';
      focusShown(document.querySelector<HTMLElement>('.lists input[type="search"]'));
    },
  },
  {
    id: 'lab.all',
    menu: 'edit',
    words: words.selectAll,
    keys: ['Ctrl+a'],
    isLocal: true,
    run: ({ lab, select }) => select({ nodes: [...lab.nodes.keys()], drawings: [...lab.drawings.keys()] }),
  },
  {
    id: 'lab.lock',
    menu: 'edit',
    words: ({ lab }) => (lab.isLocked ? words.unlockAll : words.lockAll),
    check: { words: words.lockAll, isOn: ({ lab }) => lab.isLocked },
    enabled: ({ lab }) => {
      lab.changes.value; // things come and go
      return lab.nodes.size + lab.drawings.size > 0;
    },
    run: ({ lab, history, attempt }) => {
      const fields = { locked: !lab.isLocked };
      const updates = [
        ...[...lab.drawings.values()].map((one) => ({ kind: 'drawing' as const, id: one.drawing_id, one })),
        ...[...lab.nodes.values()].map((one) => ({ kind: 'node' as const, id: one.node_id, one })),
      ].flatMap(({ kind, id, one }) => (one.locked === fields.locked ? [] : { kind, id, fields }));
      void attempt(() => history.updateBy([fields.locked ? 'lock' : 'unlock'], updates));
    },
  },
  shown('labels', words.showLabels, words.hideLabels),
  shown('links', words.showLinks, words.hideLinks),
  shown('minimap', words.showMinimap, words.hideMinimap),
  setting('show_interface_labels', words.showPorts, words.hidePorts),
  setting('show_grid', words.showGrid, words.hideGrid),
  setting('snap_to_grid', words.snap, words.unsnap),
  setting('show_layers', words.showLayers, words.hideLayers),
  {
    id: 'lab.leave',
    menu: 'edit',
    words: words.leave,
    keys: ['Escape'],
    isLocal: true,
    run: ({ arranging, drawing, linking, palette, select }) => {
      if (arranging.value) arranging.value = undefined;
      else if (drawing.value) drawing.value = undefined;
      else if (linking.value) linking.value = undefined;
      else if (palette.value) palette.value = false;
      else select({});
    },
  },
]);

/** Toggles drawing a shape on the map. */
function drawn(kind: Drawn): LabVerb['run'] {
  return ({ drawing, map }) => {
    drawing.value = drawing.value === kind ? undefined : kind;
    map?.focus();
  };
}

/** Shows or hides something in this browser. */
function shown(name: ViewSetting, show: string, hide: string): Unscoped {
  return {
    id: `view.${name}`,
    menu: 'show',
    check: { words: show, isOn: ({ view }) => view.isShown(name) },
    words: ({ view }) => (view.isShown(name) ? hide : show),
    isLocal: true,
    run: ({ view }) => view.toggle(name),
  };
}

type Switch = 'show_interface_labels' | 'show_grid' | 'snap_to_grid' | 'show_layers';

/** A setting of the lab, shared by all users. */
function setting(name: Switch & keyof ProjectObject, on: string, off: string): Unscoped {
  return {
    id: `lab.${name}`,
    menu: 'show',
    check: { words: on, isOn: ({ lab }) => lab.project.value?.[name] === true },
    words: ({ lab }) => (lab.project.value?.[name] ? off : on),
    run: ({ lab, attempt }) => void attempt(() => api.put(lab.path, { [name]: !lab.project.value?.[name] })),
  };
}
