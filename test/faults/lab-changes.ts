// Changes of a lab, drawn at random, each with what the lab is once it is made.
import { randomUUID } from 'node:crypto';
import type { Answer } from '../system/daemon.ts';
import {
  BESIDE,
  FILES,
  type Kind,
  type LabState,
  type Members,
  membersOf,
  type Server,
  textOf,
  thingText,
  withThings,
} from './lab-state.ts';

/** What the server told of a change that was made: its answer, or, where none came, the lab as it was found. */
export interface Told {
  answer?: Members | undefined;
  found?: LabState;
}

export interface Change {
  /** `a node is moved`. */
  what: string;
  request: () => Promise<Answer>;
  /** The lab after it; undefined when it cannot have been made. */
  made: (before: LabState, told: Told) => LabState | undefined;
}

const PORTS_OF_HUB = 8;

export class LabChanges {
  readonly #server: Server;
  /** `/v2/projects/ID`. */
  readonly #path: string;
  readonly #random: () => number;
  /** A thing of this kind as it is when only the members of a first request were asked for: others have the same defaults. */
  readonly #first = new Map<Kind, Members>();

  constructor(server: Server, path: string, random: () => number) {
    this.#server = server;
    this.#path = path;
    this.#random = random;
  }

  #whole(below: number): number {
    return Math.floor(this.#random() * below);
  }

  #pick(state: LabState, kind: Kind): string | undefined {
    const ids = [...state[kind].keys()];
    return ids[this.#whole(ids.length)];
  }

  /** @param state the lab as it is */
  draw(state: LabState): Change {
    const dice = this.#random();
    const [node, other, link] = [this.#pick(state, 'node'), this.#pick(state, 'node'), this.#pick(state, 'link')];
    const [drawing, template] = [this.#pick(state, 'drawing'), this.#pick(state, 'template')];
    const project = [...state.project].find(([, text]) => membersOf(text)['name'].startsWith(BESIDE))?.[0];
    if (dice < 0.16 || node === undefined) return this.#makeNode();
    if (dice < 0.3) return this.#moveNode(node);
    if (dice < 0.36) return this.#renameNode(node);
    if (dice < 0.39) return this.#removeNode(state, node);
    if (dice < 0.54) return this.#makeLink(state, node, other!) ?? this.#moveNode(node);
    if (dice < 0.57)
      return link === undefined ? this.#makeDrawing() : this.#remove('link', link, `${this.#path}/links/${link}`);
    if (dice < 0.65 || drawing === undefined) return this.#makeDrawing();
    if (dice < 0.73) return this.#moveDrawing(drawing);
    if (dice < 0.76) return this.#remove('drawing', drawing, `${this.#path}/drawings/${drawing}`);
    if (dice < 0.85) return this.#writeFile();
    if (dice < 0.87) return this.#makeSnapshot();
    if (dice < 0.9 || template === undefined) return this.#makeTemplate();
    if (dice < 0.92) return this.#remove('template', template, `/v2/templates/${template}`);
    if (dice < 0.97) return this.#changeSettings();
    if (project === undefined) return this.#makeProject();
    return this.#remove('project', project, `/v2/projects/${project}`);
  }

  /** A thing that is asked for with these members; all others are those of the first thing of its kind. */
  #make(
    kind: Kind,
    id: string,
    path: string,
    body: Members,
    derived: (first: Members) => Members = () => ({}),
  ): Change {
    return {
      what: `a ${kind} is made`,
      request: () => this.#server.ask('POST', path, { body }),
      made: (before, { answer, found }) => {
        const told = answer ?? (found?.[kind].has(id) ? membersOf(found[kind].get(id)) : undefined);
        const first = this.#first.get(kind) ?? told;
        if (first === undefined) return undefined;
        this.#first.set(kind, first);
        const members = { ...first, ...body, ...derived(first) };
        return withThings(before, kind, [[id, thingText(kind, members)]]);
      },
    };
  }

  #put(kind: Kind, id: string, path: string, body: Members, derived: (old: Members) => Members = () => ({})): Change {
    return {
      what: `a ${kind} is changed: ${Object.keys(body)}`,
      request: () => this.#server.ask('PUT', path, { body }),
      made: (before) => {
        const old = membersOf(before[kind].get(id));
        return withThings(before, kind, [[id, thingText(kind, { ...old, ...body, ...derived(old) })]]);
      },
    };
  }

  #remove(kind: Kind, id: string, path: string): Change {
    return {
      what: `a ${kind} is removed`,
      request: () => this.#server.ask('DELETE', path),
      made: (before) => withThings(before, kind, [[id, undefined]]),
    };
  }

  #makeNode(): Change {
    const id = randomUUID();
    const [name, x, y] = [`Hub-${id.slice(0, 8)}`, this.#whole(1000), this.#whole(1000)];
    const body = { node_id: id, name, node_type: 'ethernet_hub', compute_id: 'local', x, y };
    return this.#make('node', id, `${this.#path}/nodes`, body, ({ label }) => ({ label: { ...label, text: name } }));
  }

  #moveNode(id: string): Change {
    const body = { x: this.#whole(1000), y: this.#whole(1000), z: 1 + this.#whole(5) };
    return this.#put('node', id, `${this.#path}/nodes/${id}`, body);
  }

  /** Its label goes with it. */
  #renameNode(id: string): Change {
    const name = `Hub-${randomUUID().slice(0, 8)}`;
    const body = { name, x: this.#whole(1000) };
    return this.#put('node', id, `${this.#path}/nodes/${id}`, body, ({ label }) => ({
      label: { ...label, text: name },
    }));
  }

  /** Its links go with it. */
  #removeNode(state: LabState, id: string): Change {
    const links = [...state.link].filter(([, text]) => text.includes(id)).map(([link]) => [link, undefined] as const);
    const change = this.#remove('node', id, `${this.#path}/nodes/${id}`);
    return {
      ...change,
      what: `a node with ${links.length} links is removed`,
      made: (before, told) => withThings(change.made(before, told)!, 'link', links),
    };
  }

  /** Undefined when no port is free. The server chooses the identifier. */
  #makeLink(state: LabState, one: string, other: string): Change | undefined {
    if (one === other) return undefined;
    const used = new Set(
      [...state.link.values()].flatMap((text) =>
        (membersOf(text)['nodes'] as Members[]).map(({ node_id, port_number }) => `${node_id}/${port_number}`),
      ),
    );
    const free = (node_id: string) => {
      const ports = Array.from({ length: PORTS_OF_HUB }, (_, port) => port);
      return { node_id, adapter_number: 0, port_number: ports.find((port) => !used.has(`${node_id}/${port}`)) };
    };
    const nodes = [free(one), free(other)];
    if (nodes.some(({ port_number }) => port_number === undefined)) return undefined;
    return {
      what: 'a link is made',
      request: () => this.#server.ask('POST', `${this.#path}/links`, { body: { nodes } }),
      made: (before, { answer, found }) => {
        const fresh = answer ? [answer['link_id'] as string] : news(before, found, 'link');
        const told = answer ?? membersOf(found?.link.get(fresh[0]!));
        if (fresh.length !== 1) return undefined;
        const first = this.#first.get('link') ?? told;
        this.#first.set('link', first);
        const ends = nodes.map((end, index) => {
          const { label } = (told['nodes'] as Members[])[index]!;
          return { ...end, label: { ...label, text: `0/${end.port_number}` } };
        });
        return withThings(before, 'link', [[fresh[0]!, textOf({ ...first, link_id: fresh[0], nodes: ends })]]);
      },
    };
  }

  #makeDrawing(): Change {
    const id = randomUUID();
    const body = { drawing_id: id, svg: `<svg id="${id.slice(0, 8)}"/>`, x: this.#whole(1000), y: this.#whole(1000) };
    return this.#make('drawing', id, `${this.#path}/drawings`, body);
  }

  #moveDrawing(id: string): Change {
    const body = { x: this.#whole(1000), y: this.#whole(1000), rotation: this.#whole(90) };
    return this.#put('drawing', id, `${this.#path}/drawings/${id}`, body);
  }

  #writeFile(): Change {
    const name = FILES[this.#whole(FILES.length)]!;
    const content = `${randomUUID()} `.repeat(1 + this.#whole(500));
    return {
      what: 'a file is written',
      request: () => this.#server.ask('POST', `${this.#path}/files/${name}`, { body: content }),
      made: (before) => withThings(before, 'file', [[name, content]]),
    };
  }

  /** The server chooses the identifier and the time. */
  #makeSnapshot(): Change {
    const name = `snap-${randomUUID().slice(0, 8)}`;
    return {
      what: 'a snapshot is made',
      request: () => this.#server.ask('POST', `${this.#path}/snapshots`, { body: { name } }),
      made: (before, { answer, found }) => {
        const fresh = answer ? [answer['snapshot_id'] as string] : news(before, found, 'snapshot');
        if (fresh.length !== 1) return undefined;
        const { created_at } = answer ?? membersOf(found?.snapshot.get(fresh[0]!));
        const project_id = this.#path.split('/').at(-1);
        return withThings(before, 'snapshot', [
          [fresh[0]!, textOf({ snapshot_id: fresh[0], name, project_id, created_at })],
        ]);
      },
    };
  }

  #makeTemplate(): Change {
    const id = randomUUID();
    const body = { template_id: id, name: `T-${id.slice(0, 8)}`, template_type: 'vpcs', compute_id: 'local' };
    return this.#make('template', id, '/v2/templates', body);
  }

  #changeSettings(): Change {
    const body = {
      ...{ zoom: 20 + this.#whole(200), scene_width: 1000 + this.#whole(1000), grid_size: 10 + this.#whole(90) },
      variables: [{ name: 'V', value: `${this.#whole(1000)}` }],
    };
    return this.#put('project', this.#path.split('/').at(-1)!, this.#path, body);
  }

  /** A project beside the lab. */
  #makeProject(): Change {
    const id = randomUUID();
    const name = `${BESIDE}${id.slice(0, 8)}`;
    const body = { project_id: id, name, auto_close: false };
    return this.#make('project', id, '/v2/projects', body, (first) => ({
      path: String(first['path']).replace(/[^/]+$/, id),
      filename: `${name}.gns3`,
    }));
  }
}

/** Identifiers that were not there before. */
function news(before: LabState, found: LabState | undefined, kind: Kind): string[] {
  return [...(found?.[kind].keys() ?? [])].filter((id) => !before[kind].has(id));
}
