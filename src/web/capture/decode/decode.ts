// Decodes a frame according to the link type of its capture.
import { ethernet } from './ethernet.ts';
import { CUT_OFF, type Decoder, hexText, Packet, Part } from './packet-part.ts';
import { ciscoHdlc, frameRelay, ppp } from './serial.ts';

/** By pcap link type. */
const LINKS: Readonly<Record<number, Decoder>> = {
  1: ethernet,
  9: ppp,
  50: ppp,
  104: ciscoHdlc,
  107: frameRelay,
};

/** Letters; the list shows one line. */
const LONGEST_INFO = 1000;

/**
 * Never throws: fields that cannot be decoded are omitted.
 * @param length that of the frame on the link
 */
export function decode(bytes: Uint8Array, linkType: number, length = bytes.length): Packet {
  const packet = new Packet(bytes);
  const decoder = LINKS[linkType];
  if (!decoder) {
    packet.says(`link type ${linkType}`, hexText(bytes.subarray(0, 16)));
    return packet;
  }
  let isCutOff = false;
  try {
    decoder(new Part(packet, 0, bytes.length, length));
  } catch (thrown) {
    if (thrown !== CUT_OFF) throw thrown;
    isCutOff = true;
  }
  if (packet.info.length > LONGEST_INFO) packet.info = `${packet.info.slice(0, LONGEST_INFO)}…`;
  if (isCutOff) packet.info = `${packet.info} (cut off)`.trim();
  return packet;
}
