// The thread that makes room in the audit trail.
import { serveTasks } from '../host/processes/task-thread.ts';
import { mergeAudit } from './audit-merge.ts';

serveTasks(mergeAudit);
