// Where a node's startup configurations are among its files.
import { findNodeKind } from '../../api/kinds/kinds.ts';
import type { ServerNode } from '../server/nodes.ts';

export const hasConfiguration = (type: string): boolean => findNodeKind(type)?.configurations !== undefined;

/** Routers have a second, private one. */
export const hasPrivateConfiguration = (type: string): boolean =>
  findNodeKind(type)?.configurations?.secret !== undefined;

type Member = 'config' | 'private_config';

/** Which configuration of a node its type does not have, and what to do; undefined if it has all. */
export function configurationMistake(
  type: string,
  node: { readonly [member in Member]?: unknown },
): { member: Member; message: string } | undefined {
  const member = node.private_config === undefined ? 'config' : 'private_config';
  if (node[member] === undefined) return undefined;
  if (!hasConfiguration(type))
    return { member, message: `a node of the type ${type} has no start-up configuration; write its files below files` };
  if (member === 'private_config' && !hasPrivateConfiguration(type))
    return { member, message: `a node of the type ${type} has no private configuration; use config` };
  return undefined;
}

/** A configuration's path below the node's directory, if the type has one. */
export function configPath({ node_type: type, properties }: ServerNode, secret: boolean): string {
  const { startup, secret: own = startup } = findNodeKind(type)!.configurations!;
  return (secret ? own : startup)(properties);
}

/** The configuration without the comment line that the server adds. */
export function withoutMark({ node_type: type }: ServerNode, path: string, content: Buffer): Buffer {
  const mark = findNodeKind(type)?.configurations?.mark;
  if (!mark || !path.endsWith(mark.ending)) return content;
  const { length } = mark.line;
  return content.subarray(0, length).toString() === mark.line ? content.subarray(length) : content;
}
