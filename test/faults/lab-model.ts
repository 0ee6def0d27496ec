// What a lab must look like after every change that was acknowledged, and the changes themselves, drawn at random.
import { randomUUID } from 'node:crypto';
import type { Answer, Daemon } from '../system/daemon.ts';

/** Things of a kind, by id; as text of the members that are compared. */
type Things = Map<string, string>;

const KINDS = ['node', 'link', 'drawing', 'file', 'snapshot', 'template', 'setting'] as const;
type Kind = (typeof KINDS)[number];

/** A change whose answer did not arrive: it may have happened or not. */
interface Doubt {
  /** `kind/id` of what it touches. */
  touches: Set<string>;
  /** It makes a thing of this kind whose id is not known. */
  makes?: Kind;
}

interface Change extends Doubt {
  request: () => Promise<Answer>;
  /** Called with the answer of a change that was made. */
  made: (answer: Answer) => void;
}

/** Files are few, so that they are written over. */
const FILES = Array.from({ length: 8 }, (_, index) => `file-${index}.txt`);

const text = (...members: unknown[]): string => JSON.stringify(members);

export class LabModel {
  /** Acknowledged changes. */
  changes = 0;
  private readonly daemon: Daemon;
  private readonly path: string;
  private readonly random: () => number;
  private readonly things = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as Record<Kind, Things>;
  private readonly linksOfNode = new Map<string, Set<string>>();
  private readonly nextPort = new Map<string, number>();
  private doubt: Doubt | undefined;

  constructor(daemon: Daemon, projectPath: string, random: () => number) {
    this.daemon = daemon;
    this.path = projectPath;
    this.random = random;
  }

  /**
   * Makes one change. When the server does not answer (status 0), or answers that it could not, the change is in doubt; answers
   * the status.
   */
  async change(): Promise<number> {
    const change = this.draw();
    const answer = await change.request().catch(() => undefined);
    if (answer !== undefined && answer.status < 300) {
      change.made(answer);
      this.changes += 1;
    } else this.doubt = change;
    return answer?.status ?? 0;
  }

  /** Differences between what was acknowledged and what is there, but for the change in doubt; takes over what became of that. */
  async differences(): Promise<string[]> {
    const { doubt } = this;
    this.doubt = undefined;
    const found = await this.read();
    const differences: string[] = [];
    for (const kind of KINDS) {
      const [own, there] = [this.things[kind], found[kind]];
      let unknown = doubt?.makes === kind ? 1 : 0;
      for (const id of new Set([...own.keys(), ...there.keys()])) {
        if (own.get(id) === there.get(id)) continue;
        const inDoubt = doubt?.touches.has(`${kind}/${id}`) || (!own.has(id) && unknown-- > 0);
        if (!inDoubt) differences.push(`${kind} ${id}: acknowledged ${own.get(id)}, found ${there.get(id)}`);
        const value = there.get(id);
        if (value === undefined) own.delete(id);
        else own.set(id, value);
      }
    }
    this.relearnLinks();
    return differences;
  }

  private relearnLinks(): void {
    this.linksOfNode.clear();
    for (const [id, link] of this.things.link) {
      for (const [node, port] of JSON.parse(link)[0] as [string, number][]) {
        this.linksOfNode.set(node, (this.linksOfNode.get(node) ?? new Set()).add(id));
        this.nextPort.set(node, Math.max(this.nextPort.get(node) ?? 0, port + 1));
      }
    }
  }

  private async read(): Promise<Record<Kind, Things>> {
    const { daemon, path } = this;
    const [nodes, links, drawings, snapshots, templates, project] = await Promise.all([
      daemon.get(`${path}/nodes`),
      daemon.get(`${path}/links`),
      daemon.get(`${path}/drawings`),
      daemon.get(`${path}/snapshots`),
      daemon.get('/v2/templates'),
      daemon.get(path),
    ]);
    const files = new Map<string, string>();
    for (const name of FILES) {
      const answer = await daemon.ask('GET', `${path}/files/${name}`);
      if (answer.status === 200) files.set(name, answer.text);
    }
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into member by member
    const byId = (list: any[], id: string, members: (thing: any) => string): Things =>
      new Map(list.map((thing) => [thing[id], members(thing)]));
    return {
      node: byId(nodes, 'node_id', ({ name, x, y }) => text(name, x, y)),
      link: byId(links, 'link_id', (link) => linkText(link.nodes)),
      drawing: byId(drawings, 'drawing_id', ({ svg, x, y }) => text(svg, x, y)),
      snapshot: byId(snapshots, 'snapshot_id', ({ name }) => text(name)),
      template: byId(
        templates.filter(({ builtin }: { builtin: boolean }) => !builtin),
        'template_id',
        ({ name }) => text(name),
      ),
      setting: new Map([['zoom', text(project.zoom)]]),
      file: files,
    };
  }

  private whole(below: number): number {
    return Math.floor(this.random() * below);
  }

  private pick(kind: Kind): string | undefined {
    const ids = [...this.things[kind].keys()];
    return ids[this.whole(ids.length)];
  }

  private draw(): Change {
    const dice = this.random();
    const node = this.pick('node');
    const other = this.pick('node');
    const drawing = this.pick('drawing');
    const template = this.pick('template');
    if (dice < 0.2 || node === undefined) return this.makeNode();
    if (dice < 0.4) return this.moveNode(node);
    if (dice < 0.44) return this.removeNode(node);
    if (dice < 0.54 && other !== undefined && other !== node) return this.makeLink(node, other);
    if (dice < 0.57) return this.removeLink(this.pick('link')) ?? this.moveNode(node);
    if (dice < 0.67 || drawing === undefined) return this.makeDrawing();
    if (dice < 0.77) return this.moveDrawing(drawing);
    if (dice < 0.8) return this.remove('drawing', drawing, `${this.path}/drawings/${drawing}`);
    if (dice < 0.9) return this.writeFile();
    if (dice < 0.92) return this.makeSnapshot();
    if (dice < 0.96 || template === undefined) return this.makeTemplate();
    if (dice < 0.97) return this.remove('template', template, `/v2/templates/${template}`);
    return this.zoom();
  }

  private put(kind: Kind, id: string, value: string, request: Change['request']): Change {
    return { touches: new Set([`${kind}/${id}`]), request, made: () => void this.things[kind].set(id, value) };
  }

  private remove(kind: Kind, id: string, path: string): Change {
    const request = (): Promise<Answer> => this.daemon.ask('DELETE', path);
    return { touches: new Set([`${kind}/${id}`]), request, made: () => void this.things[kind].delete(id) };
  }

  private makeNode(): Change {
    const id = randomUUID();
    const [name, x, y] = [`Hub-${id.slice(0, 8)}`, this.whole(1000), this.whole(1000)];
    const body = { node_id: id, name, node_type: 'ethernet_hub', compute_id: 'local', x, y };
    return this.put('node', id, text(name, x, y), () => this.daemon.ask('POST', `${this.path}/nodes`, { body }));
  }

  private moveNode(id: string): Change {
    const [name] = JSON.parse(this.things.node.get(id)!);
    const [x, y] = [this.whole(1000), this.whole(1000)];
    const url = `${this.path}/nodes/${id}`;
    return this.put('node', id, text(name, x, y), () => this.daemon.ask('PUT', url, { body: { x, y } }));
  }

  /** Its links go with it. */
  private removeNode(id: string): Change {
    const links = this.linksOfNode.get(id) ?? new Set();
    const change = this.remove('node', id, `${this.path}/nodes/${id}`);
    for (const link of links) change.touches.add(`link/${link}`);
    const { made } = change;
    return {
      ...change,
      made: (answer) => {
        made(answer);
        for (const link of links) this.things.link.delete(link);
        this.relearnLinks();
      },
    };
  }

  private makeLink(one: string, other: string): Change {
    const ends = [one, other].map((node_id) => ({
      ...{ node_id, adapter_number: 0 },
      port_number: this.nextPort.get(node_id) ?? 0,
    }));
    if (ends.some(({ port_number: port }) => port > 7)) return this.moveNode(one);
    for (const { node_id, port_number } of ends) this.nextPort.set(node_id, port_number + 1);
    return {
      ...{ touches: new Set<string>(), makes: 'link' },
      request: () => this.daemon.ask('POST', `${this.path}/links`, { body: { nodes: ends } }),
      made: ({ json }) => {
        this.things.link.set(json.link_id, linkText(ends));
        this.relearnLinks();
      },
    };
  }

  private removeLink(id: string | undefined): Change | undefined {
    return id === undefined ? undefined : this.remove('link', id, `${this.path}/links/${id}`);
  }

  private makeDrawing(): Change {
    const id = randomUUID();
    const [svg, x] = [`<svg id="${id.slice(0, 8)}"/>`, this.whole(1000)];
    const url = `${this.path}/drawings`;
    const body = { drawing_id: id, svg, x, y: 0 };
    return this.put('drawing', id, text(svg, x, 0), () => this.daemon.ask('POST', url, { body }));
  }

  private moveDrawing(id: string): Change {
    const [svg] = JSON.parse(this.things.drawing.get(id)!);
    const x = this.whole(1000);
    const url = `${this.path}/drawings/${id}`;
    return this.put('drawing', id, text(svg, x, 0), () => this.daemon.ask('PUT', url, { body: { x } }));
  }

  private writeFile(): Change {
    const name = FILES[this.whole(FILES.length)]!;
    const content = `${randomUUID()} `.repeat(1 + this.whole(500));
    const url = `${this.path}/files/${name}`;
    return this.put('file', name, content, () => this.daemon.ask('POST', url, { body: content }));
  }

  private makeSnapshot(): Change {
    const name = `snap-${randomUUID().slice(0, 8)}`;
    return {
      ...{ touches: new Set<string>(), makes: 'snapshot' },
      request: () => this.daemon.ask('POST', `${this.path}/snapshots`, { body: { name } }),
      made: ({ json }) => void this.things.snapshot.set(json.snapshot_id, text(name)),
    };
  }

  private makeTemplate(): Change {
    const id = randomUUID();
    const name = `T-${id.slice(0, 8)}`;
    const body = { template_id: id, name, template_type: 'vpcs', compute_id: 'local' };
    return this.put('template', id, text(name), () => this.daemon.ask('POST', '/v2/templates', { body }));
  }

  private zoom(): Change {
    const zoom = 20 + this.whole(200);
    return this.put('setting', 'zoom', text(zoom), () => this.daemon.ask('PUT', this.path, { body: { zoom } }));
  }

  /** Takes what is there for what was acknowledged: before the first change, and after changes that others have made. */
  async learn(): Promise<void> {
    Object.assign(this.things, await this.read());
    this.relearnLinks();
  }
}

function linkText(nodes: readonly { node_id: string; port_number: number }[]): string {
  return text(nodes.map(({ node_id, port_number }) => [node_id, port_number]).sort());
}
