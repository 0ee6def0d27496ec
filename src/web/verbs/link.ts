// Verbs of the link that is selected.
import type { LabContext } from '../lab-context.ts';
import { api } from '../model/api.ts';
import type { LinkObject } from '../model/types.ts';
import { WORDS } from '../words.ts';
import type { LabVerb } from './verb.ts';

const words = WORDS.links;

function selected({ lab, selection }: LabContext): LinkObject | undefined {
  return lab.links.get(selection.value.link ?? '');
}

export const LINK_VERBS: readonly LabVerb[] = [
  {
    id: 'link.details',
    words: words.details,
    keys: ['Enter'],
    scope: 'link',
    isLocal: true,
    run: () => document.querySelector<HTMLElement>('.inspector button, .inspector input')?.focus(),
  },
  {
    id: 'link.suspend',
    words: (context) => (selected(context)?.suspend ? words.resume : words.suspend),
    scope: 'link',
    run: (context) => {
      const link = selected(context);
      if (!link) return;
      const update = { kind: 'link' as const, id: link.link_id, fields: { suspend: !link.suspend } };
      void context.attempt(() => context.history.update([update]));
    },
  },
  {
    id: 'link.capture',
    words: (context) => (selected(context)?.capturing ? words.stopCapture : words.startCapture),
    keys: ['c'],
    scope: 'link',
    run: (context) => {
      const { lab, attempt } = context;
      const link = selected(context);
      const action = link?.capturing ? 'stop_capture' : 'start_capture';
      if (link) void attempt(() => api.post(`${lab.path}/links/${link.link_id}/${action}`));
    },
  },
  {
    id: 'link.delete',
    words: WORDS.common.remove,
    keys: ['Delete', 'Backspace'],
    scope: 'link',
    run: (context) => {
      const { link: id } = context.selection.value;
      if (id === undefined) return;
      void context.attempt(() => context.history.remove([{ kind: 'link', id }]));
      context.select({});
    },
  },
];
