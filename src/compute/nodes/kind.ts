// The definition of a kind of node: registered by its folder, and the source of the common routes. What the controller
// and lab files need to know of a kind is in src/api/kinds.
import type * as v from 'valibot';
import type { Schema } from '../../api/routes/definition.ts';
import type { NodeType } from '../../api/vocabulary.ts';
import type { Config } from '../../config/schema.ts';
import type { Console } from '../../consoles/console.ts';
import { Failure } from '../../failures.ts';
import type { Verdict } from '../../host/values/check-result.ts';
import type { Connected, Route } from '../../http/app/route.ts';
import type { Services } from '../services.ts';
import type { IsOver, KeptData } from './lifecycle/surviving-programs.ts';
import type { Node, NodeIdentity } from './node.ts';
import type { PortRules } from './ports/port.ts';

/** The node with these identifiers. Throws a Failure `not-found` or `invalid`. */
export type FindNode<Kind extends Node = Node> = (params: Record<'project_id' | 'node_id', string>) => Kind;

/** A start with a body. */
export interface StartingWith<Kind extends Node, Body extends Schema = Schema> {
  readonly body: Body;
  start(node: Kind, body: v.InferOutput<Body>): Promise<void>;
}

/** A requirement of a kind of node on this host. */
export interface HostCheck {
  /** The program or device, as named in the report. */
  readonly subject: string;
  /** The section of a document with details: `qemu#frames`, as `labwired help` accepts it. */
  readonly see: string;
  /**
   * Changes nothing, and takes less than `PROBE_MS`. Undefined if there is nothing to check.
   * @param daemon process id of the server that runs with this configuration, if any
   */
  examine(config: Config, daemon: number | undefined): Verdict | undefined | Promise<Verdict | undefined>;
}

/** Milliseconds that a program may take to answer a check, so that a hanging program is named. */
export const PROBE_MS = 4_700;

/** Routes exist only for the capabilities that a kind implements. */
export interface NodeKind<
  Create extends Schema = Schema,
  Update extends Schema = Schema,
  Kind extends Node = Node,
  Host = unknown,
> extends PortRules {
  /** Name in the API: `vpcs`. The controller's part of the kind is in `api/kinds`. */
  readonly type: NodeType;
  /** Folder below `project-files` with its nodes' directories; left out if they have none. */
  readonly module?: string;
  /** Body of creation; the output has `name` and may have `node_id`. */
  readonly create: Create;
  readonly update: Update;
  /** Starting returns the node (200) instead of nothing (204). */
  readonly startAnswersNode?: boolean;
  /** What its nodes on this host share, such as reserved numbers. Made once by the compute. */
  host?(services: Services): Host;
  /** Creates the node. If it throws, nothing of the node is left. */
  make(identity: NodeIdentity, body: v.InferOutput<Create>, services: Services, host: Host): Promise<Kind>;
  change(node: Kind, body: v.InferOutput<Update>): Promise<void>;
  /**
   * The properties of a node created with this body, for clients that want to check before. Left out if a node simply
   * has the given ones.
   * @throws Failure `conflict` that begins with the name of the rejected property
   */
  predict?(body: v.InferOutput<Create>): object;
  /** Copies the files of one node to another existing one. Its settings were given at its creation. */
  duplicate?(source: Kind, destination: Kind): Promise<void>;
  /** A start with a body. Without it the body of a start is ignored. */
  readonly starting?: StartingWith<Kind>;
  reload?(node: Kind): Promise<void>;
  resume?(node: Kind): Promise<void>;
  /** The addresses of a running node with their prefixes, such as `10.0.0.2/24`, as far as this host knows them. */
  liveAddresses?(node: Kind): Promise<string[]>;
  /** The number that a node's MAC address is derived from, if a controller may choose it. */
  readonly macNumber?: {
    get(node: Kind): number;
    /** No effect while the node runs. */
    set(node: Kind, number: number): void;
  };
  /** For snapshots of running labs: saves a running node's state in its files, discards it, or starts from it. */
  readonly runningState?: {
    /**
     * The node is paused afterwards, until the state is dropped. @throws Failure `conflict` with the reason if the node
     * cannot
     */
    keep(node: Kind): Promise<void>;
    drop(node: Kind): Promise<void>;
    start(node: Kind): Promise<void>;
  };
  /** The data kept with its programs to reattach them; undefined if none of them outlives the server. */
  readonly kept?: KeptData;
  /** The checks of `labwired doctor`, in the order of the report. */
  readonly doctor?: readonly HostCheck[];
  /**
   * Why its nodes are unavailable on this host, with the fix; undefined if they are available. Left out: always
   * available.
   */
  unavailableReason?(config: Config): Promise<string | undefined>;
  /** Routes of this kind only, with their words for the API document; `find` returns the node in a path. */
  routes?(find: FindNode<Kind>): Route[];
  /** The same, for routes without a node: the kind's programs and files on this host. */
  hostRoutes?(services: Services, host: Host): Route[];
  /**
   * Ends what the previous run of the server left outside of the supervisor, of nodes that are over and have not
   * reattached it.
   */
  endUnclaimed?(services: Services, isOver: IsOver, host: Host): Promise<void>;
  readonly console?: {
    /** @throws Failure `conflict` without a console */
    connect(node: Kind): Console;
    /** To its port, for the raw bytes. @throws Failure as `connect` */
    connectPort(node: Kind): Promise<Connected>;
    /** To the second console, if the kind has one. @throws Failure as `connect` */
    connectAuxiliary?(node: Kind): Console;
    /** To the VNC display, if the kind can have one. @throws Failure as `connect` */
    connectDisplay?(node: Kind): Promise<Connected>;
    reset(node: Kind): Promise<void>;
  };
}

export interface WithConsole {
  connectConsole(): Console;
  connectConsolePort(): Promise<Connected>;
  resetConsole(): Promise<void>;
}

/** The console that most kinds have. */
export const oneConsole = <Kind extends WithConsole>() => ({
  connect: (node: Kind) => node.connectConsole(),
  connectPort: (node: Kind) => node.connectConsolePort(),
  reset: (node: Kind) => node.resetConsole(),
});

/** The reason for which a search on this host fails, if it does. */
export async function refusalOf(search: () => unknown): Promise<string | undefined> {
  try {
    await search();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.message;
    throw thrown;
  }
}

/** The members that a body of a schema may have. */
export const entriesOf = (schema: unknown): v.ObjectEntries => (schema as { entries?: v.ObjectEntries }).entries ?? {};

/** Checks a definition against its own schemas and class. */
export function defineKind<Create extends Schema, Update extends Schema, Kind extends Node, Host = undefined>(
  kind: NodeKind<Create, Update, Kind, Host>,
): NodeKind {
  return kind;
}
