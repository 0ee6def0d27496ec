// Entry of the server and of all commands but the supervisor, which is a process of its own and reads no more than it needs.
import { main } from './commands.ts';

/** Reads all of the server without starting more than its front: build.mjs keeps what V8 has compiled then. */
export async function evaluate(): Promise<void> {
  const { firstAnswer } = await import('./first-answer.ts');
  await Promise.all([import('./beginnings.ts'), import('./daemon.ts'), import('./host/notify.ts')]);
  await firstAnswer();
}

void main(process.argv.slice(2));
