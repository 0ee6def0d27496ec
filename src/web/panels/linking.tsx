// Creates a link: choose two nodes, then a port of each in one box; their first free ports are chosen already.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext, Linking } from '../lab-context.ts';
import { freePorts, linkAt } from '../model/lab/linked-ports.ts';
import type { LinkEnd, NodeObject } from '../model/server/types.ts';
import { WORDS } from '../words.ts';
import { Button } from './button.tsx';

const words = WORDS.linking;

export function LinkingPanel({ context }: { context: LabContext }) {
  const { lab, linking, selection } = context;
  const panel = useRef<HTMLFormElement>(null);
  const state = linking.value;
  lab.changes.value; // ports are linked meanwhile
  const [chosen] = selection.value.nodes;
  const from = lab.nodes.get(state?.from ?? '');
  // A node selected while the panel is open becomes the other end.
  const to = from && lab.nodes.get(state?.to ?? (chosen === from.node_id ? '' : (chosen ?? '')));
  const next = from ? undefined : lab.nodes.get(chosen ?? '');
  const ends = [from, to].flatMap((node) => (node ? [{ node, free: freePorts(lab, node) }] : []));
  const isPossible = ends.length === 2 && ends.every(({ free }) => free.length > 0);
  const needsNoChoice =
    isPossible &&
    state?.to !== undefined &&
    state.isRefused !== true &&
    (state.isQuick === true || ends.every(({ free }) => free.length === 1));

  const link = (nodes: readonly LinkEnd[]): void => {
    const tried: Linking = { ...state, ...(to && { to: to.node_id }), isRefused: true };
    linking.value = undefined;
    context.map?.focus();
    void context
      .attempt(() => context.history.make('link', { nodes }))
      .then((isMade) => {
        // Show the choice again, unless the user has gone on.
        if (!isMade) linking.value ??= tried;
      });
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (next) {
      linking.value = { from: next.node_id };
      context.map?.focus();
    }
    if (!isPossible) return;
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const ports = ends.map(({ node }) => {
      // Without the radio buttons that were disabled since: their ports are linked.
      const chosen = data.get(node.node_id);
      return chosen === null ? undefined : node.ports[Number(chosen)];
    });
    if (ports.includes(undefined)) {
      lab.message.value = words.portTaken;
      return;
    }
    link(ends.map(({ node }, at) => endOf(node, ports[at]!)));
  };

  useLayoutEffect(() => {
    const element = panel.current;
    if (element && state?.at) {
      const { width, height } = element.getBoundingClientRect();
      element.style.left = `${Math.max(4, Math.min(state.at.x, innerWidth - width - 4))}px`;
      element.style.top = `${Math.max(4, Math.min(state.at.y, innerHeight - height - 4))}px`;
    }
    if (needsNoChoice) link(ends.map(({ node, free }) => endOf(node, free[0]!)));
    // As soon as the ports are rendered, so that the map takes no more keys.
    else if (state?.to !== undefined) {
      const choices = [...(element?.querySelectorAll<HTMLElement>('fieldset') ?? [])].toReversed();
      const open = choices.find((each) => each.querySelectorAll('input:enabled').length > 1) ?? element;
      open?.querySelector<HTMLElement>('input:checked, button')?.focus();
    }
  }, [state]);

  if (!state || needsNoChoice) return null;
  return (
    <form
      key={`${from?.node_id} ${to?.node_id}`}
      class={state.at ? 'linking at-pointer' : 'linking'}
      aria-label={WORDS.lab.addLink}
      ref={panel}
      onSubmit={submit}
    >
      {ends.length < 2 && <p>{from ? words.second : words.first}</p>}
      {ends.length === 2 && (
        <div class="columns">
          {ends.map(({ node, free }) => (
            <Ports key={node.node_id} context={context} node={node} isFull={free.length === 0} />
          ))}
        </div>
      )}
      <p class="tools">
        {ends.length === 2 && <Button type="submit" class="main" disabled={!isPossible} text={words.link} />}
        {next && <Button type="submit" class="main" text={words.from(next.name)} />}
        <Button
          onClick={() => {
            linking.value = undefined;
            context.map?.focus();
          }}
          text={WORDS.common.cancel}
        />
      </p>
    </form>
  );
}

/** A column of ports; linked ones show the other node. */
function Ports({ context: { lab }, node, isFull }: { context: LabContext; node: NodeObject; isFull: boolean }) {
  const first = node.ports.findIndex((port) => linkAt(lab, node, port) === undefined);
  return (
    <fieldset aria-label={words.port(node.name)}>
      <legend>{node.name}</legend>
      {isFull && <small>{words.noFreePort}</small>}
      {node.ports.map((port, index) => {
        const taken = linkAt(lab, node, port);
        const peer = taken?.link.nodes.find((end) => end !== taken.end);
        return (
          <label key={`${port.adapter_number}/${port.port_number}`}>
            <input
              type="radio"
              name={node.node_id}
              value={index}
              defaultChecked={index === first}
              disabled={taken !== undefined}
            />
            {port.short_name || port.name}
            {peer && <small> – {lab.nodes.get(peer.node_id)?.name}</small>}
          </label>
        );
      })}
    </fieldset>
  );
}

function endOf({ node_id }: NodeObject, { adapter_number, port_number }: NodeObject['ports'][number]): LinkEnd {
  return { node_id, adapter_number, port_number };
}
