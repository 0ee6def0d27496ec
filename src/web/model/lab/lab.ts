// One lab as the server tells it: read once, kept up to date by events. Without a page, so that it can be tested anywhere.
import { batch, signal } from '@preact/signals';
import type { ControllerEvents, MessageOf, ProjectEvents } from '../../../api/events.ts';
import { WORDS } from '../../words.ts';
import { whyNotChange } from '../account/permissions.ts';
import { api, Refusal } from '../server/api.ts';
import { Events } from '../server/events.ts';
import { compareVersion } from '../server/page-version.ts';
import { sentenceOf } from '../server/sentence.ts';
import type { DrawingObject, LinkObject, Message, NodeObject, ProjectObject } from '../server/types.ts';
import { Counters } from './counters.ts';

type Kind = 'node' | 'link' | 'drawing';
type Objects = { node: NodeObject; link: LinkObject; drawing: DrawingObject };

/** After this time a server that did not answer is asked again. */
const RETRY_MS = 1_000;

/** Changes within this time of each other are counted together. */
const GATHERED_MS = 100;

const ID = { node: 'node_id', link: 'link_id', drawing: 'drawing_id' } as const;

export type LabState = 'reading' | 'open' | 'closed' | 'deleted' | 'refused';

/** Told of each object that came, changed or went. */
export type LabListener = (kind: Kind, id: string) => void;

export class Lab {
  readonly id: string;
  readonly state = signal<LabState>('reading');
  readonly project = signal<ProjectObject | undefined>(undefined);
  /** Why the lab could not be read. */
  readonly problem = signal('');
  /** What the server has said of it since. */
  readonly message = signal('');
  /** What came of the connection's return, for people. */
  readonly notice = signal('');
  /** When somebody closed or deleted the lab while it was shown; milliseconds of `Date.now()`, 0 if nobody has. What it was is still here then. */
  readonly endedAt = signal(0);
  /** Counts the changes of the lists below; in a storm of them, several at once. */
  readonly changes = signal(0);
  readonly nodes = new Map<string, NodeObject>();
  readonly links = new Map<string, LinkObject>();
  readonly drawings = new Map<string, DrawingObject>();
  readonly events: Events;
  readonly counters: Counters;
  /** What happens to the project as a whole is told to everybody. */
  readonly #controllerEvents: Events;
  readonly #listeners = new Set<LabListener>();
  readonly #hearers = new Set<(message: Message) => void>();
  /** Events that came while the lists were read; applied after them. */
  #waiting: Message[] | undefined;
  #readings = 0;
  readonly #linksByNode = new Map<string, Set<string>>();
  #isUncounted = false;
  #counting: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
    this.counters = new Counters(`/projects/${id}`);
    this.events = new Events({
      path: `/projects/${id}/notifications/ws`,
      message: (message) => (this.#waiting ? this.#waiting.push(message) : this.apply(message)),
      missed: (why) => {
        if (why === 'gap') this.notice.value = WORDS.connection.gap;
        void this.read();
        if (why === 'gap') void compareVersion();
      },
      resumed: (changes) => {
        this.notice.value = WORDS.connection.resumed(changes);
        void compareVersion();
      },
    });
    this.#controllerEvents = new Events({
      path: '/notifications/ws',
      message: (message) => {
        if (message.event['project_id'] === id) this.apply(message);
      },
      missed: (why) => {
        // A project that is gone has no stream of its own, which would tell so.
        if (why === 'gap' || this.events.connection.value !== 'live') void this.read();
      },
    });
  }

  /** Whether what is shown of it is, or was until a moment ago, an open lab. */
  get isShown(): boolean {
    return this.state.value === 'open' || this.endedAt.value > 0;
  }

  /** Whether it can be asked for anything now: it is open, and the server can be reached. */
  get canAsk(): boolean {
    return this.state.value === 'open' && this.events.connection.value !== 'lost';
  }

  /** Why whoever is logged in may only watch it; empty where it may be changed. */
  get whyNotChange(): string {
    return whyNotChange(this.id);
  }

  start(): void {
    this.#controllerEvents.start();
    this.events.start();
  }

  stop(): void {
    clearTimeout(this.#retry);
    this.#controllerEvents.stop();
    this.events.stop();
  }

  get path(): string {
    return `/projects/${this.id}`;
  }

  listen(listener: LabListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Told of every event as it came, also of those that change nothing here. */
  hear(hearer: (message: Message) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** What is known of an object beside the object itself has changed: those who draw it are told. */
  touch(kind: Kind, id: string): void {
    for (const listener of this.#listeners) listener(kind, id);
  }

  /** Reads the project, and its parts if it is open. Of several readings at once the last one counts. */
  async read(): Promise<void> {
    clearTimeout(this.#retry);
    this.#readings += 1;
    const reading = this.#readings;
    this.#waiting = [];
    try {
      const project = await api.get<ProjectObject>(this.path);
      const isOpen = project.status === 'opened';
      const [nodes, links, drawings] = isOpen
        ? await Promise.all([
            api.get<NodeObject[]>(`${this.path}/nodes`),
            api.get<LinkObject[]>(`${this.path}/links`),
            api.get<DrawingObject[]>(`${this.path}/drawings`),
          ])
        : [[], [], []];
      if (reading !== this.#readings) return;
      batch(() => {
        this.project.value = project;
        if (isOpen) {
          this.#replace('node', nodes);
          this.#replace('link', links);
          this.#replace('drawing', drawings);
        }
        this.#become(isOpen ? 'open' : 'closed');
        this.problem.value = '';
      });
    } catch (error) {
      if (reading !== this.#readings) return;
      const { status = -1, again = Date.now() + RETRY_MS } = error instanceof Refusal ? error : {};
      // What is shown stays until the server can be asked.
      const isPassing = status === 0 || status === 429 || status >= 500;
      if (isPassing) this.#retry = setTimeout(() => void this.read(), again - Date.now());
      // That the connection is lost stands beside the name already.
      if (status !== 0 || this.events.connection.value !== 'lost') this.problem.value = sentenceOf(error);
      if (status === 404) this.#become('deleted');
      else if (!isPassing) this.#become('refused');
    } finally {
      if (reading === this.#readings) {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const message of waiting) this.apply(message);
      }
    }
  }

  /** Takes up one event. What it does not know it leaves alone. */
  apply(message: Message): void {
    for (const hearer of this.#hearers) hearer(message);
    const { action, event } = message as MessageOf<ProjectEvents & ControllerEvents>;
    switch (action) {
      case 'node.created':
      case 'node.updated':
      case 'node.deleted':
        this.#set('node', event, action === 'node.deleted');
        break;
      case 'link.created':
      case 'link.updated':
      case 'link.deleted':
        this.#set('link', event as LinkObject, action === 'link.deleted');
        break;
      case 'drawing.created':
      case 'drawing.updated':
      case 'drawing.deleted':
        this.#set('drawing', event as DrawingObject, action === 'drawing.deleted');
        break;
      case 'project.updated':
        this.project.value = event;
        break;
      case 'project.closed':
        this.#abandonReading();
        this.project.value = event;
        this.#become('closed');
        break;
      case 'project.opened':
      case 'snapshot.restored':
        void this.read();
        break;
      case 'project.deleted':
        this.#abandonReading();
        this.#become('deleted');
        this.stop();
        break;
      case 'log.error':
      case 'log.warning':
        this.message.value = String(event.message ?? '');
    }
  }

  /** What is being read counts no more. */
  #abandonReading(): void {
    clearTimeout(this.#retry);
    this.#readings += 1;
    this.#waiting = undefined;
  }

  #become(state: LabState): void {
    if (state === 'open') this.endedAt.value = 0;
    else if (this.state.value === 'open') this.#end();
    this.state.value = state;
  }

  /** Nothing runs in a lab that is not open, also where the events that said so were missed. */
  #end(): void {
    this.endedAt.value = Date.now();
    for (const node of this.nodes.values())
      if (node.status !== 'stopped') this.#set('node', { ...node, status: 'stopped' }, false);
  }

  /** Links that end at this node. */
  linksOf(nodeId: string): LinkObject[] {
    return [...(this.#linksByNode.get(nodeId) ?? [])].flatMap((id) => this.links.get(id) ?? []);
  }

  #set<K extends Kind>(kind: K, object: Objects[K], isDeleted: boolean): void {
    const all = this[`${kind}s`] as unknown as Map<string, Objects[K]>;
    const id = String((object as unknown as Record<string, unknown>)[ID[kind]]);
    if (kind === 'link') this.#index(object as LinkObject, isDeleted);
    if (isDeleted) all.delete(id);
    // A link is announced before it has ends.
    else if (kind === 'link' && (object as LinkObject).nodes.length < 2) return;
    // A drawing is announced without its picture where that has not changed.
    else all.set(id, kind === 'drawing' ? { ...all.get(id), ...object } : object);
    this.#count();
    for (const listener of this.#listeners) listener(kind, id);
  }

  /** Keeps which links end at which node: the map asks for each node that moves. */
  #index({ link_id: id, nodes }: LinkObject, isDeleted: boolean): void {
    for (const { node_id: node } of nodes ?? []) {
      const ids = this.#linksByNode.get(node) ?? new Set();
      if (isDeleted) ids.delete(id);
      else ids.add(id);
      this.#linksByNode.set(node, ids);
    }
  }

  /** The first change counts at once, those that follow closely together: lists of 1,000 nodes are not drawn for each of them. */
  #count(): void {
    this.#isUncounted = true;
    if (this.#counting !== undefined) return;
    const count = (): void => {
      this.#counting = undefined;
      if (!this.#isUncounted) return;
      this.#isUncounted = false;
      this.changes.value += 1;
      this.#counting = setTimeout(count, GATHERED_MS);
    };
    count();
  }

  #replace<K extends Kind>(kind: K, objects: readonly Objects[K][]): void {
    const all = this[`${kind}s`] as unknown as Map<string, Objects[K]>;
    const now = new Map(
      objects.map((object) => [String((object as unknown as Record<string, unknown>)[ID[kind]]), object]),
    );
    for (const [id, object] of [...all]) if (!now.has(id)) this.#set(kind, object, true);
    for (const object of objects) this.#set(kind, object, false);
  }
}
