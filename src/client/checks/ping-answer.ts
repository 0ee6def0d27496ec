// The ping commands of the nodes' systems, and how to read their output.

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

/** A line about one echo: `84 bytes from`, `Reply from`, or only its number, as in VPCS 0.5b2 and IPv6 pings. */
const ECHO = /\b(?:bytes|reply) from\b|\bicmp6?_seq=\d|\bseq=\d/i;
/** A line about an echo that is no answer to it. VPCS puts `*` before errors. */
const NO_ANSWER = /^\s*\*|\(DUP!\)|unreachable|exceeded|expired|bad checksum|wrong|truncated/i;

/** Reads the output of VPCS, Linux, busybox, Windows and routers. Counts at most `count` replies and no duplicates. */
export function readPing(said: string, count: number): PingAnswer {
  const ofRouter = /Success rate is \d+ percent \((\d+)\/\d+\)(?:, round-trip min\/avg\/max = \d+\/(\d+)\/)?/.exec(
    said,
  );
  if (ofRouter)
    return { answered: Number(ofRouter[1]), mean: ofRouter[2] === undefined ? undefined : Number(ofRouter[2]) };
  const times = said
    .split('\n')
    .filter((line) => ECHO.test(line) && !NO_ANSWER.test(line))
    .flatMap((line) => /\btime[=<]\s*([\d.]+) ?ms/.exec(line)?.[1] ?? [])
    .map(Number)
    .slice(0, count);
  const sum = times.reduce((all, time) => all + time, 0);
  return { answered: times.length, mean: times.length === 0 ? undefined : sum / times.length };
}

/** The line that says why nothing came back, in the words of the node; undefined without one. */
export function readReason(said: string): string | undefined {
  const line = said
    .split('\n')
    .find((one) =>
      /unreachable|not reachable|not found|bad address|no route|no gateway|cannot resolve|unknown host|not known|usage|unrecognized|invalid/i.test(
        one,
      ),
    );
  return line?.trim();
}

/** The first IPv4 address in a node's output, except loopback; undefined without one. */
export function readAddress(said: string): string | undefined {
  const found = [...said.matchAll(/(?:\binet |IP\/MASK\s*:\s*)(\d+\.\d+\.\d+\.\d+)/g)].map(([, address]) => address!);
  return found.find((address) => !/^(127|0)\./.test(address));
}

/** The command that shows the addresses of a node of this type; undefined if unknown. */
export function addressLine(type: string): string | undefined {
  if (type === 'vpcs') return 'show ip';
  return ['dynamips', 'iou'].includes(type) ? undefined : 'ip -4 address show';
}
