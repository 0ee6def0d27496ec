// Edits a node's name in place.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { WORDS } from '../words.ts';

export function Rename({ context }: { context: LabContext }) {
  const { lab, renaming, map, attempt, history } = context;
  const field = useRef<HTMLInputElement>(null);
  const isSent = useRef(false);
  const id = renaming.value;
  const node = lab.nodes.get(id ?? '');
  useLayoutEffect(() => {
    const element = field.current;
    const host = element?.parentElement;
    if (!element || !host || id === undefined || !map) return;
    const [point, { left, top }] = [map.pointOf(id), host.getBoundingClientRect()];
    element.style.left = `${point.x - left}px`;
    element.style.top = `${point.y - top}px`;
    element.select();
    element.focus();
  }, [id, map]);
  if (!node) return null;
  const leave = (): void => {
    renaming.value = undefined;
    map?.focus();
  };
  /** The field keeps its input until the server accepts it. */
  const keep = async (isLeft: boolean): Promise<void> => {
    const name = field.current?.value.trim() ?? '';
    if (isSent.current) return;
    if (name === '' || name === node.name) return leave();
    isSent.current = true;
    const isKept = await attempt(() => history.update([{ kind: 'node', id: node.node_id, fields: { name } }]));
    isSent.current = false;
    if (renaming.peek() !== id) return;
    if (isKept) leave();
    else if (!isLeft) field.current?.focus();
  };
  return (
    <input
      class="rename"
      ref={field}
      aria-label={WORDS.common.name}
      defaultValue={node.name}
      autocomplete="off"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.stopPropagation();
        if (event.key === 'Enter') void keep(false);
        else leave();
      }}
      onBlur={() => {
        if (renaming.value === id) void keep(true);
      }}
    />
  );
}
