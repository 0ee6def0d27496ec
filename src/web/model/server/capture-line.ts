// Shell commands for the frames of a captured link.

/** @param path of the link below `/v2` */
export function streamed(path: string): string {
  return `curl -sN ${location.origin}/v2${path}/pcap`;
}

/** @param path of the link below `/v2` */
export function wiresharkLine(path: string): string {
  return `${streamed(path)} | wireshark -k -i -`;
}
