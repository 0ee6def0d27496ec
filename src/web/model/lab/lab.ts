// One lab as a model: read once, then kept up to date by events. Independent of the page, so that it can be tested anywhere.
import { batch, signal } from '@preact/signals';
import type { ControllerEvents, MessageOf, ProjectEvents } from '../../../api/events.ts';
import { WORDS } from '../../words.ts';
import { account } from '../account/account.ts';
import { whyNotChange } from '../account/permissions.ts';
import { api, Refusal } from '../server/api.ts';
import { Events } from '../server/events.ts';
import { compareVersion } from '../server/page-version.ts';
import { sentenceOf } from '../server/sentence.ts';
import type { DrawingObject, LinkObject, Message, NodeObject, ProjectObject } from '../server/types.ts';
import { Counters } from './counters.ts';
import { dropDrafts, followNodes } from './file-drafts.ts';

type Kind = 'node' | 'link' | 'drawing';
type Objects = { node: NodeObject; link: LinkObject; drawing: DrawingObject };

/** Pause before retrying a server that did not answer. */
const RETRY_MS = 1_000;

/** Changes within this time are counted together. */
const GATHERED_MS = 100;

const ID = { node: 'node_id', link: 'link_id', drawing: 'drawing_id' } as const;

/** After these events what is being read is of no use. */
const ENDS_READING = ['project.opened', 'project.closed', 'project.deleted'];

export type LabState = 'reading' | 'open' | 'closed' | 'deleted' | 'refused';

/** Called for each object that was added, changed or deleted. */
export type LabListener = (kind: Kind, id: string) => void;

export class Lab {
  readonly id: string;
  readonly state = signal<LabState>('reading');
  readonly project = signal<ProjectObject | undefined>(undefined);
  /** Why the lab could not be read. */
  readonly problem = signal('');
  /** The server's last message about the lab. */
  readonly message = signal('');
  /** A notice for users after a reconnect. */
  readonly notice = signal('');
  /** When the lab was closed, deleted or refused while shown (`Date.now()`), otherwise 0. Its last content is kept. */
  readonly endedAt = signal(0);
  /** Counts changes of the lists below; rapid changes are counted together. */
  readonly changes = signal(0);
  readonly nodes = new Map<string, NodeObject>();
  readonly links = new Map<string, LinkObject>();
  readonly drawings = new Map<string, DrawingObject>();
  /** How many captures of each link have started, as far as known; `changes` may count an end and a start together. */
  readonly captureStarts = new Map<string, number>();
  readonly events: Events;
  readonly counters: Counters;
  /** Changes of the project itself are sent to all clients. */
  readonly #controllerEvents: Events;
  readonly #listeners = new Set<LabListener>();
  readonly #hearers = new Set<(message: Message) => void>();
  /** Events received while the lists are read; applied afterwards. */
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
      message: (message) => this.#receive(message),
      missed: (why) => {
        if (why === 'gap') this.notice.value = WORDS.connection.gap;
        void this.read();
        if (why === 'gap') void compareVersion();
      },
      resumed: (changes) => {
        this.notice.value = WORDS.connection.resumed(changes);
        // The account may read it again, or no longer.
        if (this.state.value === 'refused') void this.read();
        void compareVersion();
      },
      refused: () => void this.#readRefused(),
    });
    this.#controllerEvents = new Events({
      path: '/notifications/ws',
      message: (message) => {
        if (message.event['project_id'] === id) this.#receive(message);
      },
      missed: (why) => {
        // A deleted project has no notification stream that could report this.
        if (why === 'gap' || this.events.connection.value !== 'live') void this.read();
      },
    });
  }

  /** Whether an open lab is shown, or one that was open until a moment ago. */
  get isShown(): boolean {
    return this.state.value === 'open' || this.endedAt.value > 0;
  }

  /** Whether requests make sense: the lab is open and the server is reachable. */
  get canAsk(): boolean {
    return this.state.value === 'open' && this.events.connection.value !== 'lost';
  }

  /** Why the logged-in account may not change the lab; empty if it may. */
  get whyNotChange(): string {
    return whyNotChange(this.id);
  }

  /** Whether a missing lab may only be hidden from the logged-in account. */
  get mayBeHidden(): boolean {
    return account.value?.others === true;
  }

  /** Whether the lab has nodes or drawings, and all of them are locked. */
  get isLocked(): boolean {
    const things = [...this.nodes.values(), ...this.drawings.values()];
    return things.length > 0 && things.every(({ locked }) => locked);
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

  /** Registers a listener for every event, also for those that change nothing here. */
  hear(hearer: (message: Message) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  /** Notifies listeners that data related to an object has changed. */
  touch(kind: Kind, id: string): void {
    for (const listener of this.#listeners) listener(kind, id);
  }

  /** Applies an event, after a running read; at once if it makes that obsolete. */
  #receive(message: Message): void {
    if (this.#waiting && !ENDS_READING.includes(message.action)) this.#waiting.push(message);
    else this.apply(message);
  }

  /** Finds out what the server no longer allows. A lab that is not shared any more is gone for this account. */
  async #readRefused(): Promise<void> {
    await this.read();
    if (this.state.value === 'deleted') this.stop();
  }

  /** Reads the project, and its objects if it is open. If several readings overlap, the last one counts. */
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
          followNodes(this.path, this.nodes);
        }
        this.#become(isOpen ? 'open' : 'closed');
        this.problem.value = '';
      });
    } catch (error) {
      if (reading !== this.#readings) return;
      const { status = -1, again = Date.now() + RETRY_MS } = error instanceof Refusal ? error : {};
      // Keep the shown content until the server can be reached.
      const isPassing = status === 0 || status === 408 || status === 429 || status >= 500;
      if (isPassing) this.#retry = setTimeout(() => void this.read(), again - Date.now());
      // A lost connection is already shown next to the name.
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

  /** Applies an event. Unknown ones are ignored. */
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

  /** Makes a running read obsolete. */
  #abandonReading(): void {
    clearTimeout(this.#retry);
    this.#readings += 1;
    this.#waiting = undefined;
  }

  #become(state: LabState): void {
    if (state === 'open') this.endedAt.value = 0;
    else if (this.isShown) this.#end(state);
    if (state === 'deleted') dropDrafts(this.path);
    this.state.value = state;
  }

  /** Marks all nodes as stopped, because a closed lab runs none; the events may have been missed. A refused lab may be open. */
  #end(state: LabState): void {
    if (this.endedAt.value === 0 || this.state.value === 'refused') this.endedAt.value = Date.now();
    if (state === 'refused') return;
    for (const node of this.nodes.values())
      if (node.status !== 'stopped') this.#set('node', { ...node, status: 'stopped' }, false);
  }

  /** Links of this node. */
  linksOf(nodeId: string): LinkObject[] {
    return [...(this.#linksByNode.get(nodeId) ?? [])].flatMap((id) => this.links.get(id) ?? []);
  }

  #set<K extends Kind>(kind: K, object: Objects[K], isDeleted: boolean): void {
    const all = this[`${kind}s`] as unknown as Map<string, Objects[K]>;
    const id = String((object as unknown as Record<string, unknown>)[ID[kind]]);
    if (kind === 'link') {
      this.#index(object as LinkObject, isDeleted);
      this.#countCapture(object as LinkObject);
    }
    if (isDeleted) all.delete(id);
    // A new link is announced before it has ends.
    else if (kind === 'link' && (object as LinkObject).nodes.length < 2) return;
    // An unchanged picture of a drawing is omitted from its event.
    else all.set(id, kind === 'drawing' ? { ...all.get(id), ...object } : object);
    if (kind === 'node') followNodes(this.path, this.nodes);
    this.#count();
    for (const listener of this.#listeners) listener(kind, id);
  }

  /** Indexes links by node, because the map looks them up for each moved node. */
  #index({ link_id: id, nodes }: LinkObject, isDeleted: boolean): void {
    for (const { node_id: node } of nodes ?? []) {
      const ids = this.#linksByNode.get(node) ?? new Set();
      if (isDeleted) ids.delete(id);
      else ids.add(id);
      this.#linksByNode.set(node, ids);
    }
  }

  /** A capture that the server resumes has another file. */
  #countCapture({ link_id: id, capturing, capture_file_name: file }: LinkObject): void {
    const former = this.links.get(id);
    if (capturing && (!former?.capturing || former.capture_file_name !== file))
      this.captureStarts.set(id, (this.captureStarts.get(id) ?? 0) + 1);
  }

  /** Counts the first change at once and later ones together, so that lists of 1,000 nodes are not redrawn for each change. */
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
