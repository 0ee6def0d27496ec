// Formats figures for users.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `12.3 MiB` */
export function inBytes(bytes: number): string {
  let unit = 0;
  let size = bytes;
  for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}

/** `12.3 MiB/s` */
export function bytesPerSecond(rate: number): string {
  return `${inBytes(rate < 1024 ? Math.round(rate) : rate)}/s`.replace('bytes', 'B');
}

/** `2026-11-23 09:12`, by the clock of this machine; from seconds since 1970. */
export function inTime(seconds: number): string {
  return inSeconds(new Date(seconds * 1000)).slice(0, 16);
}

/** `2026-11-23 09:12:44`, by the clock of this machine. */
export function inSeconds(moment: Date): string {
  return moment.toLocaleString('sv-SE');
}
