// The other end of a port's link, as a button that selects the link.
import { endName } from '../../../model/lab/link-name.ts';
import { linkAt } from '../../../model/lab/linked-ports.ts';
import type { NodeObject, PortObject } from '../../../model/server/types.ts';
import { WORDS } from '../../../words.ts';
import { Button } from '../../button.tsx';
import type { TabProps } from '../tabs.tsx';

/** The other end of a port's link, or that there is none. */
export function Cable({
  context,
  node,
  port,
}: Pick<TabProps<NodeObject>, 'context'> & { node: NodeObject; port: PortObject }) {
  const { lab, select } = context;
  const found = linkAt(lab, node, port);
  const other = found?.link.nodes.find((end) => end !== found.end);
  if (!found || !other) return <>{WORDS.nodes.free}</>;
  return <Button onClick={() => select({ link: found.link.link_id })} text={endName(lab, other)} />;
}
