// Narrow windows: lists and details are drawers over the map, and on a phone the lists stand for the map until somebody asks for it.
import { type ReadonlySignal, signal } from '@preact/signals';
import type { LabContext, Pane } from '../lab-context.ts';
import { WORDS } from '../words.ts';

// The same widths as in lab.css.
const isNarrow = matching('(max-width: 900px)');
const isPhone = matching('(max-width: 600px)');

function matching(query: string): ReadonlySignal<boolean> {
  const list = matchMedia(query);
  const matches = signal(list.matches);
  list.addEventListener('change', () => {
    matches.value = list.matches;
  });
  return matches;
}

/** What is shown where there is no room for all. */
export function shownPane({ pane, palette, linking, renaming, moving }: LabContext): Pane {
  // These are done upon the map.
  const isOnMap = palette.value || moving.value || linking.value !== undefined || renaming.value !== undefined;
  if (isOnMap) return 'map';
  return pane.value ?? (isPhone.value ? 'lists' : 'map');
}

/** Goes on from the lists to what was chosen there. */
export function showDetails({ pane }: LabContext): void {
  if (isNarrow.value) pane.value = 'details';
}

/** Goes back to the map from a drawer beside it. */
export function closeDrawer({ pane }: LabContext): void {
  if (isNarrow.value && !isPhone.value) pane.value = 'map';
}

/** Chooses what is shown; nothing in windows that have room for all. */
export function PaneButtons({ context }: { context: LabContext }) {
  if (!isNarrow.value) return null;
  const shown = shownPane(context);
  return (
    <fieldset class="tools" aria-label={WORDS.lab.panes}>
      {(['lists', 'map', 'details'] as const).map((pane) => (
        <button
          key={pane}
          type="button"
          aria-pressed={pane === shown}
          onClick={() => {
            context.palette.value = false;
            context.linking.value = undefined;
            context.pane.value = pane === shown ? 'map' : pane;
          }}
        >
          {WORDS.lab.paneNames[pane]}
        </button>
      ))}
    </fieldset>
  );
}
