// Where a link leaves the lab: the interface or the UDP tunnel of the cloud or NAT at its end.
import { nodeKind } from '../../api/kinds/kinds.ts';
import { conflict } from '../../failures.ts';
import type { Link } from './link.ts';

/** @throws Failure `conflict` for a link that stays within the lab */
export function outsideOf({ ends }: Link): object {
  const end = ends.find(({ node }) => nodeKind(node.type).leadsOut);
  const ports = end?.node.record.properties['ports_mapping'];
  const port: Record<string, unknown> | undefined = Array.isArray(ports)
    ? ports.find((one: Record<string, unknown>) => one['port_number'] === end?.port.port_number)
    : undefined;
  if (end === undefined || port === undefined) throw conflict('link_id: no end of the link is at a cloud or NAT.');
  const { type, lport, rhost, rport } = port;
  const place = type === 'udp' ? { lport, rhost, rport } : { interface: port['interface'] };
  return { node_id: end.node.id, type, ...place };
}
