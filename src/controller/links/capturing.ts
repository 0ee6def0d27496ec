// Chooses the end at which a link is captured, the file's name, and the extensions of the capture.

import { readdir } from 'node:fs/promises';
import type { CaptureExtensions } from '../../api/captures.ts';
import { conflict } from '../../failures.ts';
import { ComputeRefusal, lacksRoute } from '../computes/answers.ts';
import type { Link, LinkEnd } from './link.ts';
import { portPath } from './wiring.ts';

function isExtended(extensions: CaptureExtensions): boolean {
  return Object.values(extensions).some((value) => value !== undefined);
}

/**
 * The end to capture at, in the release's order: an always running device before an emulator, this host before others,
 * never a stopped node. Extensions are requested only from computes that know them.
 * @throws Failure `conflict` when no end runs, or none supports the request
 */
export async function capturingEnd(link: Link, extensions: CaptureExtensions): Promise<LinkEnd> {
  const rank = ({ node }: LinkEnd): number => Number(node.alwaysRunning) * 2 + Number(node.compute.id === 'local');
  const running = link.ends
    .filter(({ node }) => node.status === 'started')
    .sort((one, other) => rank(other) - rank(one));
  const [best] = running;
  if (!best) for (const { node } of link.ends) await node.reach();
  if (!best) throw conflict('Neither end of the link runs: start one of its nodes, then capture.');
  if (!isExtended(extensions)) return best;
  for (const end of running) if (await knowsExtensions(end)) return end;
  const names = [...new Set(running.map(({ node }) => node.compute.name))].join(' and ');
  throw conflict(
    `${Object.keys(extensions).join(', ')}: the compute ${names} captures whole frames as plain pcap only; leave this out, or start a node of this server, or of another Labwire, at an end of the link.`,
  );
}

/** Tests a route that only computes with extensions have: the release's compute rejects unknown members. */
async function knowsExtensions(end: LinkEnd): Promise<boolean> {
  if (end.node.compute.id === 'local') return true;
  try {
    await end.node.compute.get(portPath(end, 'statistics'));
    return true;
  } catch (error) {
    if (!(error instanceof ComputeRefusal)) throw error;
    return !lacksRoute(error);
  }
}

/** The extension members for the end's compute, with the texts for the port in the pcapng file. */
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

/** The next free name in the directory: `ping-2.pcap` after `ping.pcap`, then `ping-3.pcap`. */
export async function followingName(directory: string, name: string): Promise<string> {
  const taken = new Set(await readdir(directory).catch(() => []));
  const [, stem = '', number = '1', ending = ''] = /^(.*?)(?:-(\d{1,6}))?(\.[^.]*)?$/s.exec(name) ?? [];
  for (let next = Number(number) + 1; ; next += 1) {
    const following = `${stem}-${next}${ending}`;
    if (!taken.has(following)) return following;
  }
}
