// The tabs of a node and the form for several nodes, loaded together.
export { Files } from './files.tsx';
export { General } from './general.tsx';
export { Log } from './log.tsx';
export { Ports } from './ports.tsx';
export { Settings } from './settings.tsx';
export { Several } from './several-nodes.tsx';
