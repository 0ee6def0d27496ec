// Narrow windows: lists and details are drawers over the map; on a phone the lists replace the map until the user asks for it.
import { type ReadonlySignal, signal } from '@preact/signals';
import type { LabContext, Pane } from '../lab-context.ts';
import { focusShown } from '../shell/focus.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';

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

/** The pane shown where there is no room for all. */
export function shownPane({ pane, palette, arranging, linking, renaming, moving, drawing }: LabContext): Pane {
  // These need the map.
  const isOnMap =
    palette.value ||
    moving.value ||
    drawing.value !== undefined ||
    linking.value !== undefined ||
    arranging.value !== undefined ||
    renaming.value !== undefined;
  if (isOnMap) return 'map';
  return pane.value ?? (isPhone.value ? 'lists' : 'map');
}

/** Goes from the lists to the details of the selection. */
export function showDetails({ pane }: LabContext): void {
  if (isNarrow.value) pane.value = 'details';
}

/** Closes an open drawer and returns to the map. True if one was open. */
export function closeDrawer(context: LabContext): boolean {
  if (!isNarrow.value || isPhone.value || shownPane(context) === 'map') return false;
  context.pane.value = 'map';
  return true;
}

/** Moves the focus back after work on the map: to the map, or to the button of the pane that covers it. */
export function focusShownPane(context: LabContext): void {
  const shown = shownPane(context);
  if (!isPhone.value || shown === 'map') context.map?.focus();
  else focusShown(document.querySelector<HTMLElement>(`.panes [data-shows="${shown}"]`));
}

/** Buttons to choose the pane; invisible in wide windows. */
export function PaneButtons({ context }: { context: LabContext }) {
  if (!isNarrow.value) return null;
  const shown = shownPane(context);
  return (
    <fieldset class="tools panes" aria-label={WORDS.lab.panes}>
      {(['lists', 'map', 'details'] as const).map((pane) => (
        <Button
          key={pane}
          data-shows={pane}
          aria-pressed={pane === shown}
          onClick={() => {
            context.palette.value = false;
            context.linking.value = undefined;
            context.drawing.value = undefined;
            context.pane.value = pane === shown ? 'map' : pane;
          }}
          text={WORDS.lab.paneNames[pane]}
        />
      ))}
    </fieldset>
  );
}
