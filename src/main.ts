// Entry of the server and all commands except the supervisor, a separate process that loads less.
import { main } from './commands/run.ts';

/** Loads the server and rehearses its start; build.mjs saves the code that V8 compiles meanwhile. */
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
