// The thread that merges full files of the audit trail.
import { serveTasks } from '../host/processes/task-thread.ts';
import { mergeAudit } from './audit-merge.ts';

serveTasks(mergeAudit);
