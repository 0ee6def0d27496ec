// The thread that writes the texts of large labs.
import { serveTasks } from '../../host/processes/task-thread.ts';
import { type LabTextRequest, labText, type TopologyTextRequest, topologyText } from './lab-text.ts';

serveTasks(
  (request: LabTextRequest | TopologyTextRequest) => ('topology' in request ? topologyText(request) : labText(request)),
  (text) => (text === undefined ? [] : [text.buffer]),
);
