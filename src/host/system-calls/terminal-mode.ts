// The mode of a terminal: cooked (the default), or raw.

import { check, libc, Slab } from './libc.ts';

/** More than the size of struct termios. */
const TERMIOS_BYTES = 128;
const TCSANOW = 0;

let slab: Slab | undefined;

/** Makes bytes pass a terminal unchanged in both directions, without echo. @throws SystemError */
export function makeTerminalRaw(descriptor: number): void {
  slab ??= new Slab(TERMIOS_BYTES);
  const { address } = slab;
  check('tcgetattr', libc().tcgetattr(descriptor, address));
  libc().cfmakeraw(address);
  check('tcsetattr', libc().tcsetattr(descriptor, TCSANOW, address));
}
