// Verbs for the selected link.
import type { LabContext } from '../lab-context.ts';
import { copyText } from '../model/browser/clipboard.ts';
import { api } from '../model/server/api.ts';
import { wiresharkLine } from '../model/server/capture-line.ts';
import type { LinkObject } from '../model/server/types.ts';
import { focusShown } from '../shell/focus.ts';
import { WORDS } from '../words.ts';
import { inScope, type Unscoped } from './verb.ts';

const words = WORDS.links;

function selected({ lab, selection }: LabContext): LinkObject | undefined {
  lab.changes.value; // labels of the verbs depend on the link's state
  return lab.links.get(selection.value.link ?? '');
}

/** Starts a capture with these options and shows its packets. @throws Refusal */
export async function startCapture(context: LabContext, link: LinkObject, wanted: object = {}): Promise<void> {
  await api.post(`${context.lab.path}/links/${link.link_id}/start_capture`, wanted);
  showCapture(context, link);
}

/** Shows the packets of a link in the dock; starts a capture unless one is running. */
export async function openCapture(context: LabContext, link: LinkObject): Promise<void> {
  if (link.capturing) showCapture(context, link);
  else await context.attempt(() => startCapture(context, link));
}

function showCapture({ lab, dock }: LabContext, link: LinkObject): void {
  const title = link.nodes.map((end) => lab.nodes.get(end.node_id)?.name ?? '').join(' – ');
  dock.open({ kind: 'capture', id: link.link_id, linkId: link.link_id, title });
}

/** Shows the packets of all captured links in one list. */
export function openMerged({ dock }: LabContext): void {
  dock.open({ kind: 'merged', id: 'all', title: WORDS.capture.merged });
}

/** The presets that menus offer; the details of a link have all. */
const MENU_PRESETS = ['wifi_good', 'wifi_bad', 'adsl', 'cable', 'fibre', 'lte', '5g', 'geo_satellite'] as const;

/** Replaces all impairments of the link; the first node of a link is the subscriber of a preset. */
function impairment(name: 'none' | (typeof MENU_PRESETS)[number], impairments: { preset: string } | null): Unscoped {
  return {
    id: `link.impair.${name}`,
    menu: 'impair',
    words: name === 'none' ? words.noImpairments : WORDS.presets[name],
    run: (context) => {
      const { link: id } = context.selection.value;
      if (id === undefined) return;
      void context.attempt(() => context.history.update([{ kind: 'link', id, fields: { impairments } }]));
    },
  };
}

export const LINK_VERBS = inScope('link', [
  {
    id: 'link.details',
    words: words.details,
    keys: ['Enter'],
    isLocal: true,
    run: ({ pane }) => {
      pane.value = 'details';
      focusShown(document.querySelector<HTMLElement>('.inspector button, .inspector input'));
    },
  },
  {
    id: 'link.suspend',
    words: (context) => (selected(context)?.suspend ? words.resume : words.suspend),
    run: (context) => {
      const link = selected(context);
      if (!link) return;
      const update = { kind: 'link' as const, id: link.link_id, fields: { suspend: !link.suspend } };
      void context.attempt(() => context.history.update([update]));
    },
  },
  impairment('none', null),
  ...MENU_PRESETS.map((preset) => impairment(preset, { preset })),
  {
    id: 'link.reset',
    words: words.reset,
    run: (context) => {
      const link = selected(context);
      if (link) void context.attempt(() => api.post(`${context.lab.path}/links/${link.link_id}/reset`));
    },
  },
  {
    id: 'link.capture',
    startsGroup: true,
    words: (context) => (selected(context)?.capturing ? words.showCapture : words.startCapture),
    keys: ['c'],
    isReading: (context) => selected(context)?.capturing === true,
    run: (context) => {
      const link = selected(context);
      if (link) void openCapture(context, link);
    },
  },
  {
    id: 'link.stopCapture',
    words: words.stopCapture,
    enabled: (context) => selected(context)?.capturing === true,
    run: (context) => {
      const { lab, attempt } = context;
      const link = selected(context);
      if (link) void attempt(() => api.post(`${lab.path}/links/${link.link_id}/stop_capture`));
    },
  },
  {
    id: 'link.wireshark',
    words: words.copyWireshark,
    isLocal: true,
    enabled: (context) => selected(context)?.capturing === true,
    run: (context) => {
      const { lab, attempt } = context;
      const link = selected(context);
      if (!link) return;
      void attempt(async () => {
        const line = wiresharkLine(`${lab.path}/links/${link.link_id}`);
        if (!(await copyText(line))) lab.message.value = `${words.wireshark}: ${line}`;
      });
    },
  },
  {
    id: 'link.delete',
    startsGroup: true,
    words: WORDS.common.remove,
    keys: ['Delete', 'Backspace'],
    run: (context) => {
      const { link: id } = context.selection.value;
      if (id === undefined) return;
      void context.remove(() => context.history.remove([{ kind: 'link', id }]));
    },
  },
]);
