// The command line of a virtual PC. Facts and versions: docs/vpcs.md.

export interface VpcsCommand {
  /** Path of the program. */
  program: string;
  /** Version of the program, such as `0.5b2`. */
  version: string;
  /** Last byte of the MAC address 00:50:79:66:68:xx, 0–255. */
  macByte: number;
  /** UDP port of the PC, on this host. */
  localPort: number;
  /** UDP port and IPv4 address of the other end of its cable. */
  remotePort: number;
  remoteHost: string;
  /** Name of the start-up script in the working directory, if any. */
  script?: string | undefined;
}

/** Versions from 0.8 (betas included, alphas not) relay packets between UDP ports unless disabled. */
function hasRelaySwitch(version: string): boolean {
  const [, major, minor, stage] = /^(\d+)\.(\d+)(?:\.\d+)*([a-z]*)/.exec(version) ?? [];
  const [first, second] = [Number(major), Number(minor)];
  return first > 0 || (second >= 8 && !(second === 8 && stage === 'a'));
}

/**
 * A second UDP port of the program, at which it relays packets; undefined for versions in which that can be disabled.
 */
export function relayPort(version: string, localPort: number): number | undefined {
  return hasRelaySwitch(version) ? undefined : localPort + 9;
}

/**
 * Program and arguments for one PC on its own terminal. `-p` (its own console, as a daemon) is not used, and so neither
 * is `-F`, which only keeps that daemon in the foreground.
 */
export function vpcsCommand(options: VpcsCommand): string[] {
  const { program, version, macByte, localPort, remotePort, remoteHost, script } = options;
  return [
    ...[program, '-m', String(macByte), '-i', '1'],
    ...(hasRelaySwitch(version) ? ['-R'] : []),
    ...['-s', String(localPort), '-c', String(remotePort), '-t', remoteHost],
    ...(script === undefined ? [] : [script]),
  ];
}
