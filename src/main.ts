// Entry of the server and of all commands but the supervisor, which is a process of its own and reads no more than it needs.
import { main } from './commands/run.ts';

/** Reads all of the server and lets it answer, without starting it: build.mjs keeps what V8 has compiled then. */
export async function evaluate(): Promise<void> {
  await Promise.all([
    import('./start/start.ts'),
    import('./start/daemon.ts'),
    import('./host/processes/systemd-notify.ts'),
  ]);
  const { rehearse } = await import('./start/rehearsal.ts');
  await rehearse();
}

void main(process.argv.slice(2));
