// Writes the text of a lab's file from the records of the database; the slow part, for a thread of its own.
import type { Topology } from '../../api/topology.ts';
import { isObject } from '../json.ts';
import type { LabContents } from '../labs.ts';
import type { ProjectRecord } from '../projects.ts';
import { serializeTopology, topologyOf } from './document.ts';

export interface LabTextRequest {
  project: ProjectRecord;
  /** The records from `Labs.texts`: a JSON list of `[kind, id, text of the record]`. */
  records: string;
  /** The release named in the file as its writer. */
  version: string;
}

/** A topology to write as it is. */
export interface TopologyTextRequest {
  topology: Topology;
}

/** The text of a file. @throws Failure `conflict`, `too-large` if it could not be read again */
export function topologyText({ topology }: TopologyTextRequest): Uint8Array<ArrayBuffer> {
  // In memory of its own, so that it can be transferred to another thread.
  return new TextEncoder().encode(serializeTopology(topology));
}

/** As `topologyText`, from records; undefined if a record is damaged. */
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
