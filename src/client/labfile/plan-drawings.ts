// Plans changes of a lab's drawings, which are matched by content and position.
import { createHash } from 'node:crypto';
import type { Change } from './changes.ts';
import { differences } from './compare.ts';
import { freeId } from './identity.ts';
import type { WantedDrawing, WantedLab } from './model.ts';
import type { ServerDrawing, ServerLab } from './state.ts';

const EMBEDDED = /href="data:[^;,"]*[^,"]*;base64,([^"]*)"/g;

/** The visible content. For an embedded image the server keeps only the image and creates new SVG around it. */
function shown(svg: string): string {
  const images = [...svg.matchAll(EMBEDDED)];
  if (images.length === 1) return createHash('sha256').update(Buffer.from(images[0]![1]!, 'base64')).digest('hex');
  return svg.replaceAll('\r\n', '\n').trim();
}

const bodyOf = ({ svg, at: [x, y], z, locked, rotation }: WantedDrawing) => ({
  svg,
  x,
  y,
  ...(z !== undefined && { z }),
  ...(locked !== undefined && { locked }),
  ...(rotation !== undefined && { rotation }),
});

/** `at -50, 20` */
const nameOf = ({ x, y }: { x: number; y: number }): string => `at ${x}, ${y}`;

export function planDrawings(lab: WantedLab, state: ServerLab): Change[] {
  const left = new Set(state.drawings);
  const known = new Map<WantedDrawing, ServerDrawing>();
  const isThere = ({ at: [x, y] }: WantedDrawing, is: ServerDrawing): boolean => is.x === x && is.y === y;
  const looksSo = ({ svg }: WantedDrawing, is: ServerDrawing): boolean => shown(svg) === shown(is.svg);
  // The same in its place; the same elsewhere; another one in its place.
  for (const fits of [
    (one: WantedDrawing, is: ServerDrawing) => isThere(one, is) && looksSo(one, is),
    looksSo,
    isThere,
  ]) {
    for (const one of lab.drawings) {
      if (known.has(one)) continue;
      const is = [...left].find((candidate) => fits(one, candidate));
      if (!is) continue;
      known.set(one, is);
      left.delete(is);
    }
  }
  const changes: Change[] = [...left].map((is) => ({
    action: 'delete',
    kind: 'drawing',
    name: nameOf(is),
    id: is.drawing_id,
  }));
  const taken = new Set(state.drawings.map(({ drawing_id }) => drawing_id));
  for (const one of lab.drawings) {
    const body = bodyOf(one);
    const is = known.get(one);
    if (is) {
      const { svg, ...rest } = body;
      const found = differences('', rest, is as unknown as Record<string, unknown>);
      const isOther = !looksSo(one, is);
      if (isOther) found.push({ member: 'svg', is: summary(is.svg), wanted: summary(svg) });
      if (found.length > 0)
        changes.push({
          action: 'change',
          kind: 'drawing',
          name: nameOf(is),
          place: one.place,
          id: is.drawing_id,
          differences: found,
          body: isOther ? body : rest,
        });
      continue;
    }
    const id = freeId(taken, state.object.project_id, 'drawing', shown(one.svg), nameOf(body));
    taken.add(id);
    changes.push({
      action: 'create',
      kind: 'drawing',
      name: nameOf(body),
      place: one.place,
      body: { ...body, drawing_id: id },
    });
  }
  return changes;
}

const summary = (svg: string): string => `${svg.slice(0, 40)}${svg.length > 40 ? '…' : ''}`;
