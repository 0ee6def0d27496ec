// The mapping of the ports of clouds and NATs (schemas CloudCreate, NatCreate of release 2.2.57).
import * as v from 'valibot';
import { Integer, Text } from '../../store/vocabulary.ts';

const port = { name: Text, port_number: v.pipe(Integer, v.minValue(0)) };
const UdpPort = v.pipe(Integer, v.minValue(1), v.maxValue(65535));

const UplinkPortEntry = v.variant('type', [
  v.strictObject({ ...port, type: v.literal('ethernet'), interface: Text }),
  v.strictObject({ ...port, type: v.literal('tap'), interface: Text }),
  v.strictObject({ ...port, type: v.literal('udp'), lport: UdpPort, rhost: Text, rport: UdpPort }),
]);

/** A port of a cloud or a NAT: its name, its number, and what it leads to. */
export type UplinkPortEntry = v.InferOutput<typeof UplinkPortEntry>;

export const UplinkPortsMapping = v.array(UplinkPortEntry);
export type UplinkPortsMapping = readonly UplinkPortEntry[];
