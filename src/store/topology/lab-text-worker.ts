// The thread that makes the texts of large labs.
import { serveTasks } from '../../host/task-thread.ts';
import { labText } from './lab-text.ts';

serveTasks(labText, (text) => (text === undefined ? [] : [text.buffer]));
