// A node's name, edited where it stands.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LabContext } from '../lab-context.ts';
import { WORDS } from '../words.ts';

export function Rename({ context }: { context: LabContext }) {
  const { lab, renaming, map, attempt, history } = context;
  const field = useRef<HTMLInputElement>(null);
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
  const end = (isKept: boolean): void => {
    const name = field.current?.value.trim() ?? '';
    renaming.value = undefined;
    map?.focus();
    if (!isKept || name === '' || name === node.name) return;
    void attempt(() => history.update([{ kind: 'node', id: node.node_id, fields: { name } }]));
  };
  return (
    <input
      class="rename"
      ref={field}
      aria-label={WORDS.common.name}
      value={node.name}
      autocomplete="off"
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.stopPropagation();
        end(event.key === 'Enter');
      }}
      onBlur={() => {
        if (renaming.value === id) end(true);
      }}
    />
  );
}
