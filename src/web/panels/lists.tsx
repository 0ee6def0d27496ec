// The nodes and links of a lab as lists: what the picture shows, for keyboards, readers and small windows.
import { useSignal } from '@preact/signals';
import type { LabContext } from '../lab-context.ts';
import { portName } from '../model/ports.ts';
import type { LinkObject } from '../model/types.ts';
import { STATUS, WORDS } from '../words.ts';

export function Lists({ context }: { context: LabContext }) {
  const { lab, selection, select } = context;
  const words = useSignal('');
  lab.changes.value; // drawn anew with every change
  const nodes = [...lab.nodes.values()]
    .filter(({ name }) => name.toLowerCase().includes(words.value.toLowerCase()))
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const end = (link: LinkObject, index: 0 | 1): string => {
    const { node_id: id } = link.nodes[index];
    return `${lab.nodes.get(id)?.name ?? '?'} ${portName(lab, link.nodes[index])}`;
  };
  return (
    <nav class="lists" data-pane aria-label={WORDS.lab.lists}>
      <label>
        <span class="hidden">{WORDS.common.search}</span>
        <input
          type="search"
          placeholder={WORDS.common.search}
          onInput={({ currentTarget }) => {
            words.value = currentTarget.value;
          }}
        />
      </label>
      <h2>
        {WORDS.nodes.title} <small>{lab.nodes.size}</small>
      </h2>
      <ul>
        {nodes.map((node) => (
          <li key={node.node_id}>
            <button
              type="button"
              aria-pressed={selection.value.nodes.includes(node.node_id)}
              onClick={() => {
                select({ nodes: [node.node_id] });
                context.map?.show(node.node_id);
              }}
            >
              <span class="state" data-status={node.status} /> {node.name} <small>{STATUS[node.status]}</small>
            </button>
          </li>
        ))}
      </ul>
      <h2>
        {WORDS.links.title} <small>{lab.links.size}</small>
      </h2>
      <ul>
        {[...lab.links.values()].map((link) => (
          <li key={link.link_id}>
            <button
              type="button"
              aria-pressed={selection.value.link === link.link_id}
              onClick={() => select({ link: link.link_id })}
            >
              {end(link, 0)} – {end(link, 1)} {link.suspend && <small>{STATUS['suspended']}</small>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
