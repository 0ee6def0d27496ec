// Narrow windows: lists and details are drawers over the map, and on a phone the lists stand for the map until somebody asks for it.
import { type ReadonlySignal, signal } from '@preact/signals';
import type { LabContext, Pane } from '../lab-context.ts';
import { focusShown } from '../shell/focus.ts';
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
export function shownPane({ pane, palette, linking, renaming, moving, drawing }: LabContext): Pane {
  // These are done upon the map.
  const isOnMap =
    palette.value ||
    moving.value ||
    drawing.value !== undefined ||
    linking.value !== undefined ||
    renaming.value !== undefined;
  if (isOnMap) return 'map';
  return pane.value ?? (isPhone.value ? 'lists' : 'map');
}

/** Goes on from the lists to what was chosen there. */
export function showDetails({ pane }: LabContext): void {
  if (isNarrow.value) pane.value = 'details';
}

/** Goes back to the map from a drawer beside it. True if one was open. */
export function closeDrawer(context: LabContext): boolean {
  if (!isNarrow.value || isPhone.value || shownPane(context) === 'map') return false;
  context.pane.value = 'map';
  return true;
}

/** Gives the focus to what is shown again after something was done upon the map: to the map, or to the button of the part that covers it. */
export function focusShownPane(context: LabContext): void {
  const shown = shownPane(context);
  if (!isPhone.value || shown === 'map') context.map?.focus();
  else focusShown(document.querySelector<HTMLElement>(`.panes [data-shows="${shown}"]`));
}

/** Chooses what is shown; nothing in windows that have room for all. */
export function PaneButtons({ context }: { context: LabContext }) {
  if (!isNarrow.value) return null;
  const shown = shownPane(context);
  return (
    <fieldset class="tools panes" aria-label={WORDS.lab.panes}>
      {(['lists', 'map', 'details'] as const).map((pane) => (
        <button
          key={pane}
          type="button"
          data-shows={pane}
          aria-pressed={pane === shown}
          onClick={() => {
            context.palette.value = false;
            context.linking.value = undefined;
            context.drawing.value = undefined;
            context.pane.value = pane === shown ? 'map' : pane;
          }}
        >
          {WORDS.lab.paneNames[pane]}
        </button>
      ))}
    </fieldset>
  );
}
