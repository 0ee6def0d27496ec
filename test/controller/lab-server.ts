// A whole server in this process, for tests of the controller's routes: real store, real fabric, real compute; only the network is left out.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type ConfigSources, loadConfig } from '../../src/config/load.ts';
import { configureLog } from '../../src/host/log.ts';
import { basicHeader } from '../../src/http/access/authentication.ts';
import type { RequestOptions } from '../../src/http/app/app.ts';
import type { Daemon } from '../../src/start/daemon.ts';
import type { Body } from '../body.ts';
import { daemonHere } from '../daemon-here.ts';
import { eventually } from '../eventually.ts';
import { answerTo } from '../pc-console.ts';
import { scratchDirectory } from '../store/scratch.ts';

export interface Answer {
  status: number;
  json: Body;
}

export interface ServedLab {
  server: LabServer;
  project: Body;
  /** Of the project. */
  path: string;
}

configureLog({ write: () => {} });

/** Test files run at the same time: each server hands out the lowest port that is free, so each process begins elsewhere. */
const FIRST_UDP_PORT = String(20_000 + (process.pid % 40) * 200);

export class LabServer {
  readonly state: string;
  readonly #settings: Record<string, string>;
  #daemon: Daemon | undefined;

  private constructor(state: string, settings: Record<string, string>) {
    this.state = state;
    this.#settings = settings;
  }

  /** Starts a server on a scratch directory; it ends with the test. `settings` are keys of `[Server]`, or of another section: `VPCS.engine`. */
  static async start(t: TestContext, settings: Record<string, string> = {}): Promise<LabServer> {
    // Hooks run in the order in which they were given: the directory goes when nobody writes into it any more.
    let server: LabServer | undefined;
    t.after(() => server?.stop());
    server = new LabServer(await scratchDirectory(t), settings);
    await server.start();
    return server;
  }

  /** The same with a lab on it; `more` are members of the lab. */
  static async withLab(t: TestContext, more: object = {}, settings: Record<string, string> = {}): Promise<ServedLab> {
    const server = await LabServer.start(t, settings);
    const project = await server.project('lab', more);
    return { server, project, path: `/v2/projects/${project.project_id}` };
  }

  /** A server with the same settings on another directory, which the caller starts and ends. */
  at(state: string): LabServer {
    return new LabServer(state, this.#settings);
  }

  /** More settings, for its next start. */
  configure(settings: Record<string, string>): void {
    Object.assign(this.#settings, settings);
  }

  async start(): Promise<void> {
    const values = { port: '0', local: 'true', udp_start_port_range: FIRST_UDP_PORT, ...this.#settings };
    const flags: ConfigSources['flags'] = Object.entries(values).map(([name, value]) => {
      const [key, section = 'Server'] = name.split('.').reverse() as [
        string,
        ConfigSources['flags'][number]['section']?,
      ];
      return { section, key, value, flag: key };
    });
    const sources = { flags, environment: {}, workingDirectory: this.state, home: this.state, state: this.state };
    this.#daemon = await daemonHere(loadConfig(sources).config);
  }

  async stop(): Promise<void> {
    await this.#daemon?.stop();
    this.#daemon = undefined;
  }

  /** Ends it with its labs open, as a kill would. */
  async leave(): Promise<void> {
    await this.#daemon?.leave();
    this.#daemon = undefined;
  }

  /** Where it listens. */
  get port(): number {
    assert.ok(this.#daemon);
    return this.#daemon.address.port;
  }

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    assert.ok(this.#daemon);
    const response = await this.#daemon.app.request(path, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      ...(this.#settings['password'] && { headers: { Authorization: this.#authorization() } }),
    });
    const text = await response.text();
    return {
      status: response.status,
      json: response.headers.get('content-type') === 'application/json' ? JSON.parse(text) : text,
    };
  }

  #authorization(): string {
    const { user = '', password = '' } = this.#settings;
    return basicHeader({ user, password });
  }

  /** A GET whose answer lasts. */
  async stream(path: string): Promise<Response> {
    assert.ok(this.#daemon);
    return this.#daemon.app.request(path);
  }

  /** A request whose body or answer is a file. */
  async request(path: string, options: RequestOptions = {}): Promise<Response> {
    assert.ok(this.#daemon);
    return this.#daemon.app.request(path, options);
  }

  /** A call that must succeed with this status; gives its answer. */
  async expect(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.call(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${JSON.stringify(answer.json)}`);
    return answer.json;
  }

  async project(name = 'lab', more: object = {}): Promise<Body> {
    return this.expect(201, 'POST', '/v2/projects', { name, ...more });
  }

  async hub(project: Body, name: string, more: object = {}): Promise<Body> {
    const body = { name, node_type: 'ethernet_hub', compute_id: 'local', ...more };
    return this.expect(201, 'POST', `/v2/projects/${project.project_id}/nodes`, body);
  }

  async link(project: Body, one: Body, other: Body, more: object = {}): Promise<Body> {
    const nodes = [one, other].map(([node, port]) => ({ node_id: node.node_id, adapter_number: 0, port_number: port }));
    return this.expect(201, 'POST', `/v2/projects/${project.project_id}/links`, { nodes, ...more });
  }

  /** Types a line at the console of a PC; gives the answer. */
  async type(nodePath: string, line: string): Promise<string> {
    assert.ok(this.#daemon);
    const socket = await this.#daemon.app.openSocket(`${nodePath}/console/ws`);
    let output = '';
    socket.listen({
      message: (data) => {
        output += typeof data === 'string' ? data : Buffer.from(data).toString();
      },
    });
    socket.send('\r');
    await until(() => /> ?$/.test(output), `the prompt of ${nodePath}`);
    output = '';
    socket.send(`${line}\r`);
    await until(() => answerTo(line, output) !== undefined, `the answer to ${line}`);
    socket.close(1000, '');
    return (answerTo(line, output) ?? []).join('\n');
  }

  /** Records what a stream announces, pings and `compute.updated` left out; the list grows as long as the test runs. */
  async record(path: string): Promise<{ action: string; event: Body }[]> {
    assert.ok(this.#daemon);
    const socket = await this.#daemon.app.openSocket(path);
    const messages: { action: string; event: Body }[] = [];
    socket.listen({
      message: (data) => {
        const message = JSON.parse(String(data));
        if (message.action !== 'ping' && message.action !== 'compute.updated') messages.push(message);
      },
    });
    return messages;
  }
}

/** Waits until `condition` holds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  patience = 30_000,
): Promise<void> {
  await eventually(what, condition, Boolean, patience);
}
