// Preloaded, ends the server when an import is in the database, and its files are not kept for the next controller.
import { weaken } from './weakening.ts';

weaken(
  '/controller/archives/importing.ts',
  'const isKept = await',
  "if (name === 'Interrupted') process.kill(process.pid, 'SIGKILL');\n    const isKept = await",
);
