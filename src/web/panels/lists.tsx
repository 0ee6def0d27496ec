// The nodes and links of a lab as lists, for keyboards, screen readers and small windows.
import { useSignal } from '@preact/signals';
import type { LabContext } from '../lab-context.ts';
import { compareNames, inNumbers } from '../language.ts';
import { readShape } from '../model/lab/drawing.ts';
import { endName, linkStates } from '../model/lab/link-name.ts';
import type { Selection } from '../model/lab/selection.ts';
import type { LinkObject } from '../model/server/types.ts';
import { STATUS, stateOf, WORDS } from '../words.ts';
import { Button } from './button.tsx';
import { WindowedList } from './long-list.tsx';
import { showDetails } from './narrow-window.tsx';
import { SearchField } from './search-field.tsx';

/** Height of a row in pixels, unless its name is long. */
const ROW = 34;

export function Lists({ context }: { context: LabContext }) {
  const { lab, selection, select } = context;
  const typed = useSignal('');
  const choose = (chosen: Partial<Selection>): void => {
    select(chosen);
    showDetails(context);
  };
  lab.changes.value; // redrawn with every change
  const wanted = typed.value.toLowerCase();
  function found<T>(things: ReadonlyMap<string, T>, named: (thing: T) => string): T[] {
    const all = [...things.values()];
    return wanted === '' ? all : all.filter((thing) => named(thing).toLowerCase().includes(wanted));
  }
  const endsOf = ({ nodes: [one, other] }: LinkObject): string => `${endName(lab, one)} – ${endName(lab, other)}`;
  const nodes = found(lab.nodes, ({ name }) => name).sort((a, b) => compareNames(a.name, b.name));
  const links = found(lab.links, endsOf);
  const drawings = found(lab.drawings, ({ svg }) => nameOf(svg));
  const counted = (shown: number, all: number): string =>
    shown === all ? inNumbers(all) : WORDS.common.outOf(shown, all);
  return (
    <nav class="lists" data-pane aria-label={WORDS.lab.lists}>
      <SearchField
        typed={typed}
        onKeyDown={({ key }) => {
          if (key === 'Escape') context.map?.focus();
          const [first] = nodes;
          if (key !== 'Enter' || !first) return;
          choose({ nodes: [first.node_id] });
          context.map?.centre(first.node_id);
          context.map?.focus();
        }}
      />
      <h2>
        {WORDS.nodes.title} <small>{counted(nodes.length, lab.nodes.size)}</small>
      </h2>
      <WindowedList
        items={nodes}
        keyOf={({ node_id: id }) => id}
        height={ROW}
        row={(node) => (
          <button
            type="button"
            aria-pressed={selection.value.nodes.includes(node.node_id)}
            onClick={() => {
              choose({ nodes: [node.node_id] });
              context.map?.show(node.node_id);
            }}
          >
            <span class="state" data-status={stateOf(node)} /> {node.name} <small>{STATUS[stateOf(node)]}</small>
          </button>
        )}
      />
      <h2>
        {WORDS.links.title} <small>{counted(links.length, lab.links.size)}</small>
      </h2>
      <WindowedList
        items={links}
        keyOf={({ link_id: id }) => id}
        height={ROW}
        row={(link) => (
          <button
            type="button"
            aria-pressed={selection.value.link === link.link_id}
            onClick={() => choose({ link: link.link_id })}
          >
            {endsOf(link)} <small>{linkStates(link).join(', ')}</small>
          </button>
        )}
      />
      {lab.drawings.size > 0 && (
        <>
          <h2>
            {WORDS.drawings.title} <small>{counted(drawings.length, lab.drawings.size)}</small>
          </h2>
          <WindowedList
            items={drawings}
            keyOf={({ drawing_id: id }) => id}
            height={ROW}
            row={(drawing) => (
              <Button
                aria-pressed={selection.value.drawings.includes(drawing.drawing_id)}
                onClick={() => {
                  choose({ drawings: [drawing.drawing_id] });
                  context.map?.show(drawing.drawing_id);
                }}
                text={nameOf(drawing.svg)}
              />
            )}
          />
        </>
      )}
    </nav>
  );
}

function nameOf(svg: string): string {
  const shape = readShape(svg);
  return shape?.kind === 'text' ? shape.text : WORDS.drawings.kinds[shape?.kind ?? 'picture'];
}
