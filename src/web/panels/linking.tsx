// Creates a link: choose the first node and port, then the second.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { freePorts } from '../model/lab/linked-ports.ts';
import type { LinkEnd } from '../model/server/types.ts';
import { WORDS } from '../words.ts';

export function LinkingPanel({ context }: { context: LabContext }) {
  const { lab, linking, selection } = context;
  const panel = useRef<HTMLFieldSetElement>(null);
  const state = linking.value;
  const [chosen] = selection.value.nodes;
  // A node selected while the panel is open becomes the next end.
  const at = state?.at ?? (chosen === state?.first?.node_id ? undefined : chosen);
  const node = at === undefined ? undefined : lab.nodes.get(at);
  const free = node ? freePorts(lab, node) : [];
  const only = free.length === 1 && state?.at !== undefined ? free[0] : undefined;

  const choose = (end: LinkEnd): void => {
    const { first, next } = linking.value ?? {};
    if (!first) {
      linking.value = { first: { ...end }, ...(next !== undefined && { at: next }) };
      context.map?.focus();
      return;
    }
    const made = {};
    linking.value = made;
    context.map?.focus();
    void context
      .attempt(() => context.history.make('link', { nodes: [first, end] }))
      .then((isMade) => {
        // Restore the first choice, unless the user has gone on.
        if (!isMade && linking.value === made) linking.value = { first };
      });
  };

  // As soon as the ports are rendered, so that the map takes no more keys.
  useLayoutEffect(() => {
    // A chosen node with a single free port needs no choice of port.
    if (node && only)
      choose({ node_id: node.node_id, adapter_number: only.adapter_number, port_number: only.port_number });
    else if (state?.at !== undefined) panel.current?.querySelector<HTMLElement>('button')?.focus();
  }, [state]);

  if (!state || only) return null;
  return (
    <fieldset class="linking" aria-label={WORDS.lab.addLink} ref={panel}>
      <p>{state.first ? WORDS.linking.second : WORDS.linking.first}</p>
      {node && node.node_id !== state.first?.node_id && (
        <fieldset class="ports" aria-label={WORDS.linking.port(node.name)}>
          <span>
            {node.name} {free.length === 0 && WORDS.linking.noFreePort}
          </span>
          {free.map((port) => (
            <button
              type="button"
              key={`${port.adapter_number}/${port.port_number}`}
              onClick={() =>
                choose({ node_id: node.node_id, adapter_number: port.adapter_number, port_number: port.port_number })
              }
            >
              {port.short_name || port.name}
            </button>
          ))}
        </fieldset>
      )}
      <button
        type="button"
        onClick={() => {
          linking.value = undefined;
          context.map?.focus();
        }}
      >
        {WORDS.common.cancel}
      </button>
    </fieldset>
  );
}
