// The thread that parses long topology files.
import { serveTasks } from '../../host/processes/task-thread.ts';
import { parseTopologyBytes } from './document.ts';
import { parseOutline } from './outline.ts';
import type { ParsingRequest } from './parsing-thread.ts';

serveTasks(({ bytes, options }: ParsingRequest) =>
  options === 'outline' ? parseOutline(bytes) : parseTopologyBytes(bytes, options),
);
