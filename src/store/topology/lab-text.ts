// The text of a lab's file, made of the records of the database: what of it takes long is done in a thread of its own.
import { isObject } from '../json.ts';
import type { LabContents } from '../labs.ts';
import type { ProjectRecord } from '../projects.ts';
import { serializeTopology, topologyOf } from './document.ts';
import type { Topology } from './schema.ts';

export interface LabTextRequest {
  project: ProjectRecord;
  /** The records as `Labs.texts` gives them: a JSON list of `[kind, id, text of the record]`. */
  records: string;
  /** Release that the file names as its writer. */
  version: string;
}

/** What is to be a file as it is. */
export interface TopologyTextRequest {
  topology: Topology;
}

/** The text of a file. @throws Failure `conflict` when it would not be readable again */
export function topologyText({ topology }: TopologyTextRequest): Uint8Array<ArrayBuffer> {
  // Of its own memory, so that it can go over to another thread.
  return new TextEncoder().encode(serializeTopology(topology));
}

/** The text of the file; undefined when a record is damaged. @throws Failure `conflict` when it would not be readable again */
export function labText({ project, records, version }: LabTextRequest): Uint8Array<ArrayBuffer> | undefined {
  const lab: Record<string, unknown[]> = { node: [], link: [], drawing: [], compute: [] };
  for (const [kind, , text] of JSON.parse(records) as [kind: string, id: string, text: string][]) {
    const record = parsed(text);
    if (record === undefined) return undefined;
    lab[kind]?.push(record);
  }
  const contents = { nodes: lab['node'], links: lab['link'], drawings: lab['drawing'], computes: lab['compute'] };
  return topologyText({ topology: topologyOf(project, contents as unknown as LabContents, version) });
}

function parsed(text: string): object | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isObject(record) ? record : undefined;
  } catch {
    return undefined;
  }
}
