// A thread whose tasks may never end, for task-thread.test.ts.
import { serveTasks } from '../../src/host/processes/task-thread.ts';

serveTasks((request: 'loop' | 'answer') => {
  while (request === 'loop');
  return request;
});
