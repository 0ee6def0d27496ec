// Entry of the server and of all commands but the supervisor, which is a process of its own and reads no more than it needs.
import { main } from './commands.ts';

/** Reads all of the server without starting it: build.mjs keeps what V8 has compiled then. */
export const evaluate = () => Promise.all([import('./daemon.ts'), import('./host/notify.ts')]);

void main(process.argv.slice(2));
