// MAC addresses of virtual PCs, and the numbers they are derived from.

/** Addresses that there are: the second half of 00:50:79:66:68:00 and up, to 00:50:79:ff:ff:ff. */
export const MAC_ADDRESSES = 0x100_0000 - 0x66_6800;

/** VPCS has only one byte to make an address of. */
const BYTES = 256;

/**
 * The PC's address, 6 bytes: 00:50:79:66:68:NN for the first 256, as VPCS has it, and those that follow beyond,
 * 00:50:79:66:69:00 and so on.
 */
export function pcMac(number: number): Buffer {
  const mac = Buffer.allocUnsafeSlow(6);
  mac.writeUIntBE(0x0050_7966_6800 + (number % MAC_ADDRESSES), 0, 6);
  return mac;
}

/**
 * The lowest number for one more PC that no other one has. Its last byte is one of those that are used least: 256 PCs all differ under
 * VPCS, too, and more of them share as few addresses as possible.
 */
export function freeMacNumber(taken: readonly number[]): number {
  const uses = new Array<number>(BYTES).fill(0);
  for (const number of taken) uses[number % BYTES]! += 1;
  let number = uses.indexOf(Math.min(...uses));
  while (taken.includes(number)) number += BYTES;
  return number;
}
