// The MAC addresses of the PCs of a project.

/** Addresses that there are: the second half of 00:50:79:66:68:00 and up, to 00:50:79:ff:ff:ff. */
export const MAC_ADDRESSES = 0x100_0000 - 0x66_6800;

/**
 * The PC's address, 6 bytes: 00:50:79:66:68:NN for the first 256, as VPCS has it, and those that follow beyond,
 * 00:50:79:66:69:00 and so on.
 */
export function pcMac(number: number): Buffer {
  const mac = Buffer.allocUnsafeSlow(6);
  mac.writeUIntBE(0x0050_7966_6800 + (number % MAC_ADDRESSES), 0, 6);
  return mac;
}
