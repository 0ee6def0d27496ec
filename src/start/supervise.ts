// Entry of the supervisor's process: `labwired supervise DIRECTORY INSTANCE [ADDON-DIRECTORY]`.
import { supervise } from '../supervisor/supervise.ts';

void supervise(process.argv.slice(3));
