// The selection with its verbs: a node, several nodes, a link, or drawings.
import type { LabContext } from '../../lab-context.ts';
import { Notes } from '../../notes/notes.tsx';
import { WORDS } from '../../words.ts';
import { VerbButton } from '../verb-button.tsx';
import { DrawingDetails } from './drawing.tsx';
import { LinkDetails } from './link.tsx';
import { NodeDetails, NodeVerbs, SeveralNodes } from './node.tsx';

export function Inspector({ context }: { context: LabContext }) {
  const { lab, selection } = context;
  lab.changes.value; // redrawn with every change
  const nodes = context.selectedNodes();
  const link = lab.links.get(selection.value.link ?? '');
  const drawings = selection.value.drawings.flatMap((id) => lab.drawings.get(id) ?? []);
  return (
    <aside class="inspector" data-pane aria-label={WORDS.lab.details}>
      {link && <LinkDetails key={link.link_id} context={context} object={link} />}
      {nodes.length === 1 && <NodeDetails key={nodes[0]!.node_id} context={context} object={nodes[0]!} />}
      {nodes.length > 1 && (
        <>
          <h2>
            {WORDS.nodes.count(nodes.length)}
            {drawings.length > 0 && `, ${WORDS.drawings.count(drawings.length)}`}
          </h2>
          <NodeVerbs context={context} />
          <SeveralNodes context={context} nodes={nodes} />
        </>
      )}
      {drawings.length === 1 && nodes.length === 0 && (
        <DrawingDetails key={drawings[0]!.drawing_id} context={context} object={drawings[0]!} />
      )}
      {drawings.length > 1 && nodes.length === 0 && (
        <>
          <h2>{WORDS.drawings.count(drawings.length)}</h2>
          <p class="tools">
            {['duplicate', 'raise', 'lower', 'lock', 'delete'].map((verb) => (
              <VerbButton key={verb} context={context} id={`drawing.${verb}`} />
            ))}
          </p>
        </>
      )}
      {!link && nodes.length + drawings.length === 0 && <Overview context={context} />}
    </aside>
  );
}

/** The first hints, useless to viewers: add a node, link two nodes. */
const CHANGING_HINTS = 2;

/** Shown without a selection: the lab's notes, numbers and hints. */
function Overview({ context }: { context: LabContext }) {
  const { lab } = context;
  lab.changes.value; // its own, as a component with the same members is not redrawn with the one around it
  const nodes = [...lab.nodes.values()];
  const running = nodes.filter(({ status }) => status === 'started').length;
  const links = [...lab.links.values()];
  const captured = links.filter(({ capturing }) => capturing).length;
  return (
    <div class="overview">
      <h2>{WORDS.lab.thisLab}</h2>
      <dl>
        <dt>{WORDS.nodes.title}</dt>
        <dd>{WORDS.labs.ofRunning(running, nodes.length)}</dd>
        <dt>{WORDS.links.title}</dt>
        <dd>
          {links.length}
          {captured > 0 && `, ${WORDS.lab.captured(captured)}`}
        </dd>
      </dl>
      <Notes context={context} />
      <p>{WORDS.lab.nothingSelected}</p>
      <ul>
        {WORDS.lab.hints.slice(lab.whyNotChange === '' ? 0 : CHANGING_HINTS).map(([text, key]) => (
          <li key={text}>
            {text} <kbd>{key}</kbd>
          </li>
        ))}
      </ul>
    </div>
  );
}
