// Arranges all or the selected nodes: each choice is shown at once on the map, and sent to the server as one step by Apply.
import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { ALIGNMENTS, type Alignment, align } from '../../layout/align.ts';
import { STYLES, type Style } from '../../layout/style.ts';
import type { LabContext } from '../lab-context.ts';
import { type Point, snapped } from '../model/lab/geometry.ts';
import type { NodeObject } from '../model/server/types.ts';
import { type PageWorker, startWorker } from '../model/server/workers.ts';
import { Button } from '../panels/button.tsx';
import { WORDS } from '../words.ts';
import type { ArrangeRequest, ArrangeResult } from './messages.ts';

const words = WORDS.arrange;

type Choice = Style | Alignment;

export function ArrangePanel({ context, ids }: { context: LabContext; ids: readonly string[] | 'all' }) {
  const { lab, arranging } = context;
  const form = useRef<HTMLFormElement>(null);
  const worker = useRef<PageWorker<ArrangeRequest> | undefined>(undefined);
  const chosen = useSignal<Choice>('auto');
  const isBusy = useSignal(false);

  const nodes = (): NodeObject[] =>
    (ids === 'all' ? [...lab.nodes.values()] : ids.flatMap((id) => lab.nodes.get(id) ?? [])).filter(
      ({ locked }) => !locked,
    );

  const show = (places: ReadonlyMap<string, Point>): void => {
    isBusy.value = false;
    const project = lab.project.value;
    const grid = project?.snap_to_grid ? project.grid_size : 0;
    const onGrid = nodes().flatMap(({ node_id: id, width, height }): [string, Point][] => {
      const place = places.get(id);
      return place ? [[id, snapped({ ...place, width, height }, grid)]] : [];
    });
    context.map?.preview(new Map(onGrid));
  };

  const choose = (choice: Choice): void => {
    chosen.value = choice;
    worker.current?.stop();
    worker.current = undefined;
    const placed = nodes().map(({ node_id: key, name, x, y, width, height }) => ({ key, name, x, y, width, height }));
    if (isAlignment(choice)) {
      show(align(placed, choice));
      return;
    }
    isBusy.value = true;
    const started = startWorker<ArrangeRequest, ArrangeResult>('arrange', ({ places }) => show(places));
    worker.current = started;
    const links = [...lab.links.values()].map(
      ({ nodes: [one, other] }) => [one?.node_id ?? '', other?.node_id ?? ''] as const,
    );
    started.post({ nodes: placed, links, style: choice });
  };

  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('input')?.focus(), []);
  useEffect(() => {
    choose('auto');
    return () => {
      worker.current?.stop();
      context.map?.endPreview();
    };
  }, []);

  const end = (): void => {
    arranging.value = undefined;
    context.map?.focus();
  };
  const option = (choice: Choice) => (
    <label key={choice}>
      <input type="radio" name="arrange" checked={chosen.value === choice} onChange={() => choose(choice)} />
      {words.choices[choice]}
    </label>
  );
  return (
    <form
      class="arrange"
      aria-label={words.title}
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy.value) return;
        context.map?.keep();
        end();
      }}
    >
      <p>
        {ids === 'all' ? words.all : WORDS.nodes.count(ids.length)}
        <span role="status">{isBusy.value && ` ${words.busy}`}</span>
      </p>
      <fieldset>
        <legend>{words.layout}</legend>
        {STYLES.map(option)}
      </fieldset>
      {ids !== 'all' && (
        <fieldset>
          <legend>{words.align}</legend>
          {ALIGNMENTS.map(option)}
        </fieldset>
      )}
      <p class="tools">
        <Button type="submit" class="main" disabled={isBusy.value} text={words.apply} />
        <Button
          onClick={() => {
            context.map?.endPreview();
            end();
          }}
          text={WORDS.common.cancel}
        />
      </p>
    </form>
  );
}

function isAlignment(choice: Choice): choice is Alignment {
  return ALIGNMENTS.some((alignment) => alignment === choice);
}
