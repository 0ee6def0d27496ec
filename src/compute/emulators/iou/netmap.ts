// Who talks to whom, as an IOU image reads it from its directory, and the numbers of its ports on the wire.

/** Of the fabric's own end: as far beyond the image's as there are ids. */
export const BRIDGE_OFFSET = 512;
/** Adapters that the wire knows; four ports each. */
export const BAYS = 16;
export const UNITS = 4;

/** The port's number in the header of each frame. */
export function portByte(bay: number, unit: number): number {
  return unit * 16 + bay;
}

/** Each port of the image, and beside it the same port of the fabric's end. */
export function netmap(applicationId: number): string {
  const lines: string[] = [];
  for (let bay = 0; bay < BAYS; bay += 1) {
    for (let unit = 0; unit < UNITS; unit += 1) {
      const own = `${applicationId}`.padStart(5);
      lines.push(`${applicationId + BRIDGE_OFFSET}:${bay}/${unit}${own}:${bay}/${unit}\n`);
    }
  }
  return lines.join('');
}
