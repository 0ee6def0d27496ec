// The controller's and file format's definition of a kind of node. The compute's is src/compute/nodes/kind.ts. Neither imports the other,
// as a lab may have nodes of kinds that only another compute can run.
import type * as v from 'valibot';
import type { Method, RouteDefinition } from '../routes/definition.ts';
import type { CustomAdapter, NodeType } from '../vocabulary.ts';
import type { Port } from './port.ts';
import type { Effect, Properties } from './property.ts';
import type { Category } from './template-members.ts';

/** The members of a node that its ports follow from. */
export interface PortSource {
  node_type: NodeType;
  properties: Readonly<Record<string, unknown>>;
  port_name_format: string;
  port_segment_size: number;
  first_port_name: string | null;
  custom_adapters: readonly CustomAdapter[];
}

/** Facts of release 2.2.57 unless noted. Omitted members have the default of most kinds. */
export interface NodeKindFacts {
  readonly type: NodeType;
  /** Properties of nodes and templates, which requests may set. */
  readonly properties: Properties;
  /** When a running node takes a change of a property that does not say; `live` unless given. */
  readonly effect?: Effect;
  /** All ports of a node; pure. @throws Failure `conflict` for a port name format that cannot be expanded */
  ports(source: PortSource): Port[];
  /** Of nodes that do not say; `Ethernet{0}` and 0 unless given. */
  readonly portNames?: { readonly format: string; readonly segmentSize: number };
  /** Its compute takes no `console_type`. */
  readonly withoutConsoleType?: true;
  /** Filters of a link cannot work at its end. */
  readonly withoutFilters?: true;
  /** Its compute has no route to change a NIO. */
  readonly fixedNios?: true;
  /** Whether the kernel can forward frames of its ports, where the host permits that. */
  readonly kernelForwards?: true;
  /** Its ports lead out of the lab: two such nodes cannot be joined. */
  readonly leadsOut?: true;
  /** It learns MAC addresses, which its compute lists. */
  readonly learnsAddresses?: true;
  /** It keeps its name while it runs. */
  readonly fixedNameWhileRunning?: true;
  /** Properties that number a node among others of its kind: a copy gets its own. */
  readonly ownNumbers?: readonly string[];
  /** A property that no two nodes on a host share, and its least and greatest number: the controller gives it. */
  readonly hostNumber?: { readonly property: string; readonly least: number; readonly most: number };
  /** Its MAC address is derived from a number that the controller assigns. */
  readonly macNumber?: true;
  /** Server settings sent to the compute with every start. */
  readonly startSettings?: 'iou_license';
  /** Properties that a lab file must have, with a description. */
  readonly required?: Readonly<Record<string, string>>;
  /** Properties added in releases 3.0, which computes of 2.2 reject; besides `compute_id`, which was added to all kinds. */
  readonly addedByRelease3?: readonly string[];
  /** Milliseconds that its creation may take, 0 for as long as it needs (a download); 20 minutes unless given. */
  readonly creationLimit?: number;
  readonly configurations?: ConfigurationFiles;
  /** Other files of its directory that its settings are kept in. */
  readonly settingFiles?: readonly string[];
  /** Links in a node's folder mean places within the node, wherever they seem to lead. */
  readonly linksLeadInside?: true;
  /** While it runs, its folder has a link to its image. Each start makes it again. */
  readonly linksToImage?: true;
  /** The node is a machine of another program on its host, so archives cannot contain it. */
  readonly staysOnHost?: {
    /** Nothing can be made again of a linked clone: not even a project is exported with it. */
    readonly linkedClones?: true;
  };
  /**
   * How a snapshot of a running lab treats a running node: `state` also saves its state by the compute's `state` routes; `refused` refuses
   * the snapshot. Default: only its files are saved, and it is started again.
   */
  readonly whileRunning?: 'state' | 'refused';
  /**
   * Its files alone are not all that it has: its compute's `checkpoint` route copies what changed into a folder (api/disk-checkpoint).
   * Says which files of the node's directory that copy replaces, such as a disk.
   */
  readonly checkpointCovers?: (name: string) => boolean;
  /** Its directory does not have all that it has changed: a move takes such a copy along. */
  readonly movesWithCheckpoint?: true;
  readonly images?: ImageFacts;
  /** What a node needs of its host; next to nothing unless given. */
  readonly needs?: (members: MemberReader) => HostNeeds;
  /** Route of a compute, below its address, that says which guests KVM runs there. */
  readonly accelerationRoute?: string;
  readonly template: TemplateFacts;
  /** Controller routes that its compute answers. */
  readonly passes?: readonly PassedRoute[];
}

/** Where the start-up configuration is in a node's directory, and the private one of routers. */
export interface ConfigurationFiles {
  startup(properties: PortSource['properties']): string;
  secret?(properties: PortSource['properties']): string;
  /** A first line that the server adds to files whose names have this ending. */
  readonly mark?: { readonly ending: string; readonly line: string };
}

export interface ImageFacts {
  /** Below the images path, and below an archive's `images`. */
  readonly folder: string;
  /** Whether a property of a node names an image. */
  isReference(property: string): boolean;
  /** Whether a file is an image that begins with these `HEAD_BYTES` bytes. */
  accepts(head: Uint8Array): boolean;
  /** Whether a node can use a file that clients do not see in lists. */
  usesUnlisted?(head: Uint8Array): boolean;
  /** The property that gives a node a copy of its own; a node without one writes to the image itself. */
  readonly copied?: string;
  /** The failure for a missing image; `image-missing` unless given. */
  readonly missing?: 'not-found' | 'image-missing';
}

export interface TemplateFacts {
  /** Names of nodes: `{name}` is the template's name, `{0}` a number. */
  readonly nameFormat: string;
  /** Name of a built-in symbol. */
  readonly symbol: string;
  readonly category: Category;
  /** Members besides those of all templates; without these, users cannot create templates. */
  readonly members?: v.ObjectEntries;
  /** The same, where it depends on the value of a member. */
  readonly variants?: { readonly by: string; readonly members: Readonly<Record<string, v.ObjectEntries>> };
  /** Members of old clients that say nothing. */
  readonly ignored?: readonly string[];
  /** The type cannot be named by a request that makes a template. */
  readonly builtinOnly?: true;
  /** The template that exists from the start. */
  readonly builtin?: {
    /** Of the release (name-based UUID of the type), so that topologies of either server find it. */
    readonly id: string;
    readonly name: string;
    readonly settings?: Readonly<Record<string, unknown>>;
  };
}

/** Reads properties of a node; `usual` for those that are missing or of another type. */
export interface MemberReader {
  number(name: string, usual: number): number;
  text(name: string): string;
  list(name: string): readonly unknown[];
}

/** MiB of a machine's program beside the guest's memory. */
export const OVERHEAD_MIB = 64;

export interface HostNeeds {
  /** MiB. */
  memory: number;
  /** Usual load, in processors. */
  load: number;
  /** Processors that its host must have; 1 unless given. */
  processors?: number;
  /** Whether KVM should run it. */
  kvm?: boolean;
  /** Network interfaces of its host that its ports lead to, by the number of the port. */
  interfaces?: readonly (string | undefined)[];
}

/** `<method> <node>/<path>` of the controller is `<method> <node>/<to>` of the compute. */
export interface PassedRoute extends RouteDefinition {
  readonly method: Method;
  readonly path: string;
  readonly to: string;
  /** Milliseconds. */
  readonly limit: number;
}
