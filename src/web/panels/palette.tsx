// The template palette: search and add in the middle of the map, or drag onto it.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { compareNames } from '../language.ts';
import { storeIn } from '../model/browser/signal-handlers.ts';
import type { Point } from '../model/lab/geometry.ts';
import { api } from '../model/server/api.ts';
import { useLoaded } from '../model/server/loaded.ts';
import type { TemplateObject } from '../model/server/types.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';
import { Message } from './message.tsx';
import { focusShownPane } from './narrow-window.tsx';
import { Reading } from './reading.tsx';
import { SymbolPicture } from './symbol-picture.tsx';

/** Movement in pixels that still counts as a click. */
const STILL = 4;

/** Own templates first, then the built-in ones by how often they are needed. */
function rankOf({ builtin, template_type: type }: TemplateObject): number {
  return builtin ? Object.keys(WORDS.nodes.types).indexOf(type) + 1 : 0;
}

export function Palette({ context }: { context: LabContext }) {
  const { palette } = context;
  const words = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  /** The click at the end of a drag is ignored. */
  const isDragged = useRef(false);
  /** Search texts for which Enter was pressed before the templates were loaded. */
  const awaited = useRef<string[]>([]);
  // Before the next key, which is the first letter of a name.
  useLayoutEffect(() => field.current?.focus(), []);
  const { value, problem, again } = useLoaded(async () => {
    const list = await api.get<TemplateObject[]>('/templates');
    return list.toSorted((a, b) => rankOf(a) - rankOf(b) || compareNames(a.name, b.name));
  }, []);
  const templates = value.value;
  const named = (typed: string): readonly TemplateObject[] =>
    (templates ?? []).filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()));
  const found = named(words.value);
  useEffect(() => {
    if (!templates) return;
    for (const typed of awaited.current.splice(0)) {
      const [template] = named(typed);
      if (template) context.place(template);
    }
  }, [templates]);

  const close = (): void => {
    palette.value = false;
    focusShownPane(context);
  };

  return (
    <div
      class="palette"
      role="dialog"
      aria-label={WORDS.lab.addNode}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Keep the selection.
        event.stopPropagation();
        close();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!templates) awaited.current.push(words.value);
          else if (found[0]) context.place(found[0]);
        }}
      >
        <label>
          {WORDS.palette.template}
          <input ref={field} type="search" autocomplete="off" onInput={storeIn(words)} />
        </label>
        <Button onClick={close} text={WORDS.common.close} />
      </form>
      <p>
        <small>{WORDS.palette.hint}</small>
      </p>
      <Message text={problem.value} again={again} />
      {found.length === 0 &&
        (templates ? <p class="empty">{WORDS.command.none}</p> : problem.value === '' && <Reading />)}
      <ul class="templates">
        {found.map((template) => (
          <li key={template.template_id}>
            <button
              type="button"
              class="item"
              onPointerDown={(event) => {
                isDragged.current = false;
                const begun = (): void => {
                  isDragged.current = true;
                };
                drag(event, context, begun, (at) => context.place(template, at));
              }}
              onClick={() => {
                if (!isDragged.current) context.place(template);
              }}
            >
              <SymbolPicture id={template.symbol} />
              {template.name} <small>{template.category}</small>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Drags a template's symbol and drops it on the map. A click does not start a drag. */
function drag(pressed: PointerEvent, { map }: LabContext, begun: () => void, drop: (at: Point) => void): void {
  const button = pressed.currentTarget as HTMLElement;
  if (pressed.button !== 0) return;
  const over = new AbortController();
  // A fast pointer leaves the button before its first move event.
  button.setPointerCapture(pressed.pointerId);
  let ghost: HTMLElement | undefined;
  const move = (event: PointerEvent): void => {
    if (!ghost && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) <= STILL) return;
    if (!ghost) {
      ghost = button.querySelector('img')!.cloneNode() as HTMLElement;
      ghost.className = 'ghost';
      document.body.append(ghost);
      begun();
    }
    ghost.style.left = `${event.clientX}px`;
    ghost.style.top = `${event.clientY}px`;
  };
  const end = (event: PointerEvent): void => {
    over.abort();
    if (!ghost) return;
    ghost.remove();
    const isOverPanel = document.elementFromPoint(event.clientX, event.clientY)?.closest('.palette');
    const at = isOverPanel ? undefined : map?.placeAt(event.clientX, event.clientY);
    if (event.type === 'pointerup' && at) drop(at);
  };
  button.addEventListener('pointermove', move, { signal: over.signal });
  button.addEventListener('pointerup', end, { signal: over.signal });
  button.addEventListener('pointercancel', end, { signal: over.signal });
}
