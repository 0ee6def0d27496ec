// A ping from one node, typed at its console.
import { isIP } from 'node:net';
import { conflict, ignoreNotFound } from '../../failures.ts';
import type { Ping } from '../labfile/schema.ts';
import type { Clock, Look } from './observation.ts';
import { addressLine, pingLine, readAddress, readPing, readReason } from './ping-answer.ts';
import type { Scene } from './scene.ts';

const USUAL_COUNT = 3;
/** Time for a node to show its address. */
const ADDRESS_SECONDS = 10;
/** So long an echo may be away: a lost one takes that time. */
const ECHO_SECONDS = 3;
const SPARE_SECONDS = 15;

/**
 * The address to ping.
 * @throws Failure if the node does not show its address
 */
async function addressOf(scene: Scene, to: string, clock: Clock): Promise<string> {
  if (isIP(to)) return to;
  // Other names are for the node's own resolver, such as that of a server in the lab.
  const node = await scene.running(to).catch(ignoreNotFound);
  if (!node) return to;
  const line = addressLine(node.node_type);
  const address = line === undefined ? undefined : readAddress(await scene.ask(to, line, clock, ADDRESS_SECONDS));
  if (address === undefined) throw conflict(`"${to}" has no readable address: write the address itself`);
  return address;
}

/** Pings once, with the requested number of echoes. */
export async function lookByPing(scene: Scene, ping: Ping, clock: Clock): Promise<Look> {
  const { from, to, count = USUAL_COUNT, loss = 0, round_trip: { min, max } = {} } = ping;
  const [node, address] = [await scene.running(from), await addressOf(scene, to, clock)];
  const line = pingLine(node.node_type, address, count);
  const said = await scene.ask(from, line, clock, count * ECHO_SECONDS + SPARE_SECONDS);
  const { answered, mean } = readPing(said, count);
  const time = mean === undefined ? '' : `, ${shown(mean)} ms on average`;
  const seen = `${answered} of ${count} answered${time}`;
  const reason = readReason(said);
  if (((count - answered) / count) * 100 > loss)
    return { passed: false, seen: reason === undefined ? seen : `${seen}: ${reason}` };
  if (min !== undefined && (mean === undefined || mean < min))
    return { passed: false, seen: `${seen}, less than ${min} ms` };
  if (max !== undefined && mean !== undefined && mean > max)
    return { passed: false, seen: `${seen}, more than ${max} ms` };
  return { passed: true, seen };
}

const shown = (milliseconds: number): string => milliseconds.toFixed(milliseconds < 10 ? 2 : 0);
