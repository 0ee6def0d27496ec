// Start-up configurations of nodes, where clients find them among the files of a node.
import { findNodeKind } from '../../api/kinds/kinds.ts';
import type { ServerNode } from './state.ts';

export const hasConfiguration = (type: string): boolean => findNodeKind(type)?.configurations !== undefined;

/** Routers have one more, for what is not to be shown. */
export const hasPrivateConfiguration = (type: string): boolean =>
  findNodeKind(type)?.configurations?.secret !== undefined;

/** The path of a configuration below the directory of a node whose type has one. */
export function configPath({ node_type: type, properties }: ServerNode, secret: boolean): string {
  const { startup, secret: own = startup } = findNodeKind(type)!.configurations!;
  return (secret ? own : startup)(properties);
}

/** What a configuration says, whatever line of comment a server has put before it. */
export function withoutMark({ node_type: type }: ServerNode, path: string, content: Buffer): Buffer {
  const mark = findNodeKind(type)?.configurations?.mark;
  if (!mark || !path.endsWith(mark.ending)) return content;
  const { length } = mark.line;
  return content.subarray(0, length).toString() === mark.line ? content.subarray(length) : content;
}
