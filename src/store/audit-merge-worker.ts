// The thread that makes room in the audit trail.
import { serveTasks } from '../host/task-thread.ts';
import { mergeAudit } from './audit-merge.ts';

serveTasks(mergeAudit);
