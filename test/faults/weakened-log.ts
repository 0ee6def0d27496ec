// Preloaded, makes the server worse on purpose: changes are acknowledged a moment before the log of the cluster has them.
import { weaken } from './weakening.ts';

weaken(
  '/store/database.ts',
  'position = await changeLog.append(changes);',
  'position = 0; setTimeout(() => void changeLog.append(changes).catch(() => {}), 300);',
);
