// Pings as the systems of nodes want them typed, and what their answers say.

/** Of a node type: the line to type. */
export function pingLine(type: string, address: string, count: number): string {
  switch (type) {
    case 'vpcs':
      return `ping ${address} -c ${count}`;
    case 'dynamips':
    case 'iou':
      return `ping ${address} repeat ${count}`;
    default:
      return `ping -c ${count} -W 2 ${address}`;
  }
}

export interface PingAnswer {
  answered: number;
  /** In milliseconds; undefined without an answer. */
  mean: number | undefined;
}

/** Of VPCS, the ping of Linux and busybox, or a router; no more than were sent are counted, and duplicates not at all. */
export function readPing(said: string, count: number): PingAnswer {
  const ofRouter = /Success rate is \d+ percent \((\d+)\/\d+\)(?:, round-trip min\/avg\/max = \d+\/(\d+)\/)?/.exec(
    said,
  );
  if (ofRouter)
    return { answered: Number(ofRouter[1]), mean: ofRouter[2] === undefined ? undefined : Number(ofRouter[2]) };
  const times = said
    .split('\n')
    .filter((line) => /bytes from/.test(line) && !/\(DUP!\)|unreachable|exceeded/i.test(line))
    .flatMap((line) => /time[=<]\s*([\d.]+) ?ms/.exec(line)?.[1] ?? [])
    .map(Number)
    .slice(0, count);
  const sum = times.reduce((all, time) => all + time, 0);
  return { answered: times.length, mean: times.length === 0 ? undefined : sum / times.length };
}

/** The first IPv4 address that a node tells of itself, apart from that of its loopback; undefined without one. */
export function readAddress(said: string): string | undefined {
  const found = [...said.matchAll(/(?:\binet |IP\/MASK\s*:\s*)(\d+\.\d+\.\d+\.\d+)/g)].map(([, address]) => address!);
  return found.find((address) => !/^(127|0)\./.test(address));
}

/** The line at which a node of this type tells its addresses; undefined where none is known. */
export function addressLine(type: string): string | undefined {
  if (type === 'vpcs') return 'show ip';
  return ['dynamips', 'iou'].includes(type) ? undefined : 'ip -4 address show';
}
