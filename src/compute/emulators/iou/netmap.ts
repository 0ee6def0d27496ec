// The connections of an IOU image, which it reads from its directory, and the numbers of its ports in frames.

/** Offset of the fabric's end from the image's id: the number of ids. */
export const BRIDGE_OFFSET = 512;
/** Adapters that the protocol supports; four ports each. */
export const BAYS = 16;
export const UNITS = 4;

/** The port's number in the header of each frame. */
export function portByte(bay: number, unit: number): number {
  return unit * 16 + bay;
}

/** Each port of the image with the same port of the fabric's end. */
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
