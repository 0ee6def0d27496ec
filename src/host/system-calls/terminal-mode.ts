// The mode of a terminal: cooked, as it is made, or raw.

import { check, libc, Slab } from './libc.ts';

/** More than struct termios has. */
const TERMIOS_BYTES = 128;
const TCSANOW = 0;

let slab: Slab | undefined;

/** Bytes pass a terminal unchanged from now on, in both directions, and are not echoed. @throws SystemError */
export function makeTerminalRaw(descriptor: number): void {
  slab ??= new Slab(TERMIOS_BYTES);
  const { address } = slab;
  check('tcgetattr', libc().tcgetattr(descriptor, address));
  libc().cfmakeraw(address);
  check('tcsetattr', libc().tcsetattr(descriptor, TCSANOW, address));
}
