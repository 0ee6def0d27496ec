// `labwired lab layout`: arranges the nodes of a lab.
import type { ProjectObject } from '../../api/objects.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { suggestion } from '../../host/values/nearest-name.ts';
import { isStyle, STYLES, type Style } from '../../layout/style.ts';
import { verb } from '../frame/command.ts';
import type { Session } from '../frame/session.ts';
import { counted } from '../terminal/counted.ts';

export const layoutVerb = verb({
  name: 'layout',
  words: ['LAB'],
  summary: 'arranges the nodes of an open lab by their links; locked nodes stay',
  flags: {
    style: { value: 'STYLE', summary: `${STYLES.join(', ')}; auto (default) is the one that is easiest to read` },
  },
  run: async (session, [wanted], { style = 'auto' }) => {
    if (!isStyle(style)) throw new WrongUsage(`--style: there is no style "${style}"; ${suggestion(style, STYLES)}`);
    const lab = await session.openLabNamed(wanted);
    const moved = await layOutLab(session, lab, style);
    session.tell(`Lab "${lab.name}" is laid out: ${counted(moved, 'node')} moved.`, lab.project_id, {
      project_id: lab.project_id,
      style,
      moved,
    });
  },
});

/** Returns how many nodes were moved. @throws Failure */
async function layOutLab(session: Session, lab: ProjectObject, style: Style): Promise<number> {
  const [{ arrangeNodes }, { nodePath, readLabState }, { isWhole }] = await Promise.all([
    import('../../layout/arrange-nodes.ts'),
    import('../labfile/state.ts'),
    import('../labfile/plan-links.ts'),
  ]);
  const { nodes, links } = await readLabState(session.api, lab);
  const free = nodes.filter(({ locked }) => !locked);
  const places = arrangeNodes(
    free.map(({ node_id: key, name, x, y, width = 0, height = 0 }) => ({ key, name, x, y, width, height })),
    links.filter(isWhole).map(({ nodes: [one, other] }) => [one!.node_id, other!.node_id] as const),
    style,
  );
  let moved = 0;
  for (const node of free) {
    const { x, y } = places.get(node.node_id)!;
    if (x === node.x && y === node.y) continue;
    await session.api.request('PUT', nodePath(lab, node.node_id), { x, y });
    moved += 1;
  }
  return moved;
}
