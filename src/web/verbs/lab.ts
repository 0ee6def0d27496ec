// Verbs of a lab as a whole.
import { api } from '../model/api.ts';
import { WORDS } from '../words.ts';
import type { LabVerb } from './verb.ts';

const words = WORDS.lab;
const ZOOM = 1.25;

export const LAB_VERBS: readonly LabVerb[] = [
  {
    id: 'lab.start',
    words: words.startAll,
    scope: 'lab',
    run: ({ lab, attempt }) => void attempt(() => api.post(`${lab.path}/nodes/start`)),
  },
  {
    id: 'lab.stop',
    words: words.stopAll,
    scope: 'lab',
    run: ({ lab, attempt }) => void attempt(() => api.post(`${lab.path}/nodes/stop`)),
  },
  {
    id: 'lab.node',
    words: words.addNode,
    keys: ['n'],
    scope: 'lab',
    run: ({ palette }) => {
      palette.value = true;
    },
  },
  {
    id: 'lab.link',
    words: words.addLink,
    keys: ['l'],
    scope: 'lab',
    run: ({ linking }) => {
      linking.value = linking.value === undefined ? 'first' : undefined;
    },
  },
  { id: 'lab.fit', words: words.fit, keys: ['f'], scope: 'lab', isLocal: true, run: ({ map }) => map?.fit() },
  {
    id: 'lab.enlarge',
    words: words.zoomIn,
    keys: ['+'],
    scope: 'lab',
    isLocal: true,
    run: ({ map }) => map?.zoom(ZOOM),
  },
  {
    id: 'lab.reduce',
    words: words.zoomOut,
    keys: ['-'],
    scope: 'lab',
    isLocal: true,
    run: ({ map }) => map?.zoom(1 / ZOOM),
  },
  {
    id: 'lab.leave',
    words: words.leave,
    keys: ['Escape'],
    scope: 'lab',
    isLocal: true,
    run: ({ linking, select }) => {
      linking.value = undefined;
      select({});
    },
  },
];
