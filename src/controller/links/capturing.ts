// Where a link is captured, what the file is called, and what is beyond the release about it.
import { Failure } from '../../failures.ts';
import type { CaptureExtensions } from '../../store/captures.ts';
import { ComputeRefusal, lacksRoute } from '../computes/answers.ts';
import type { Link, LinkEnd } from './link.ts';
import { capturePath } from './wiring.ts';

function isExtended(extensions: CaptureExtensions): boolean {
  return Object.values(extensions).some((value) => value !== undefined);
}

/**
 * The release's order: a device that always runs before an emulator, this host before others; a node that does not run never.
 * What is beyond the release is asked of computes that know it only.
 * @throws Failure `conflict` when no end runs, or none that can do it
 */
export async function capturingEnd(link: Link, extensions: CaptureExtensions): Promise<LinkEnd> {
  const rank = ({ node }: LinkEnd): number => Number(node.alwaysRunning) * 2 + Number(node.compute.id === 'local');
  const running = link.ends
    .filter(({ node }) => node.status === 'started')
    .sort((one, other) => rank(other) - rank(one));
  const [best] = running;
  if (!best) for (const { node } of link.ends) await node.reach();
  if (!best) throw new Failure('conflict', 'Neither end of the link runs: start one of its nodes, then capture.');
  if (!isExtended(extensions)) return best;
  for (const end of running) if (await knowsExtensions(end)) return end;
  const names = [...new Set(running.map(({ node }) => node.compute.name))].join(' and ');
  throw new Failure(
    'conflict',
    `${Object.keys(extensions).join(', ')}: the compute ${names} captures whole frames as plain pcap only; leave this out, or start a node of this server, or of another Labwire, at an end of the link.`,
  );
}

/** Tells by a route that only such computes have: to the release's, members that it does not know are an error. */
async function knowsExtensions(end: LinkEnd): Promise<boolean> {
  if (end.node.compute.id === 'local') return true;
  try {
    await end.node.compute.get(capturePath(end, 'statistics'));
    return true;
  } catch (error) {
    if (!(error instanceof ComputeRefusal)) throw error;
    return !lacksRoute(error);
  }
}

/** The members beyond the release for the compute of the end, with the words that pcapng says of the port. */
export function extensionMembers(link: Link, end: LinkEnd, extensions: CaptureExtensions): object {
  if (!isExtended(extensions)) return {};
  const [one, other] = [end, link.ends.find((each) => each !== end)].map(
    (each) => each && `${each.node.name} ${each.port.name}`,
  );
  return { ...extensions, interface_description: other === undefined ? one : `${one} to ${other}` };
}

export function defaultFileName(link: Link, { format }: CaptureExtensions): string {
  const [one, other] = link.ends.map(({ node, port }) => `${node.name}_${port.adapter_number}-${port.port_number}`);
  const ending = format === 'pcapng' ? 'pcapng' : 'pcap';
  return `${`${one}_to_${other}`.replaceAll(/[^0-9A-Za-z_-]/g, '')}.${ending}`;
}
