// One compute as the controller knows it: where it is, whether it is connected, what it can do, how busy it is; and the calls to it.
import { Failure, messageOf } from '../../failures.ts';
import { log } from '../../host/log.ts';
import type { MessageSocket, SocketData } from '../../http/sockets.ts';
import { refusalOf } from './answers.ts';
import type { ComputeTransport } from './transport.ts';

export interface ComputeDescription {
  compute_id: string;
  name: string;
  protocol: 'http' | 'https';
  host: string;
  port: number;
  user: string | null;
}

/** What a compute says that it can do. */
export interface Capabilities {
  version: string | null;
  node_types: string[];
  platform?: string;
}

/** A message of a compute's notification socket. */
export interface ComputeMessage {
  action: string;
  event: Record<string, unknown>;
  project_id?: string;
}

export interface ComputeListener {
  /** The compute's object changed. */
  changed(compute: Compute): void;
  /** Something other than a ping was announced. */
  announced(compute: Compute, message: ComputeMessage): void;
}

export interface CallOptions {
  /** JSON body; an empty object is sent as no body, as genuine controllers do. */
  body?: object;
  /** Milliseconds; 0 for no limit. 120,000 when not given. */
  limit?: number;
  /** Fails at once instead of connecting first when the compute is not connected. */
  connect?: boolean;
}

const DEFAULT_LIMIT = 120_000;
const BASE = '/v2/compute';
const NOTHING: Capabilities = { version: null, node_types: [] };

export class Compute {
  readonly description: ComputeDescription;
  /** Where consoles of this compute's nodes are dialled; the configured address, wildcard included. */
  readonly consoleHost: string;
  connected = false;
  lastError: string | null = null;
  capabilities: Capabilities = NOTHING;
  private usage: { cpu: number | null; memory: number | null } = { cpu: null, memory: null };
  private readonly transport: ComputeTransport;
  private readonly listener: ComputeListener;
  private readonly version: string;
  private socket: MessageSocket | undefined;
  private connecting: Promise<void> | undefined;

  constructor(
    description: ComputeDescription,
    options: { transport: ComputeTransport; listener: ComputeListener; version: string; consoleHost: string },
  ) {
    this.description = description;
    this.transport = options.transport;
    this.listener = options.listener;
    this.version = options.version;
    this.consoleHost = options.consoleHost;
  }

  get id(): string {
    return this.description.compute_id;
  }

  /** The object that clients see (`Compute`); never with the password. */
  json(): object {
    return {
      ...this.description,
      connected: this.connected,
      cpu_usage_percent: this.usage.cpu,
      memory_usage_percent: this.usage.memory,
      capabilities: this.capabilities,
      last_error: this.lastError,
    };
  }

  /** Asks what the compute can do, checks its version, and listens to its notifications. */
  async connect(): Promise<void> {
    if (this.connected) return;
    this.connecting ??= this.handshake().finally(() => {
      this.connecting = undefined;
    });
    await this.connecting;
  }

  disconnect(): void {
    this.socket?.close(1000, '');
    this.lost();
  }

  private async handshake(): Promise<void> {
    const answer = await this.transport.request(`${BASE}/capabilities`);
    const capabilities = (await answer.json()) as Capabilities;
    const release = (text: string | null | undefined): string => (text ?? '').split('-')[0] as string;
    if (release(capabilities.version) !== release(this.version)) {
      this.lastError = `The compute ${this.description.name} has version ${capabilities.version}, this server ${this.version}: both must be the same.`;
      throw new Failure('conflict', this.lastError);
    }
    const socket = await this.transport.openSocket(`${BASE}/notifications/ws`);
    this.socket = socket;
    this.capabilities = capabilities;
    this.connected = true;
    this.lastError = null;
    socket.listen({
      message: (data) => this.received(data),
      close: () => {
        if (this.socket === socket) this.lost();
      },
    });
    this.listener.changed(this);
  }

  private lost(): void {
    if (!this.connected) return;
    this.socket = undefined;
    this.connected = false;
    this.usage = { cpu: null, memory: null };
    this.listener.changed(this);
  }

  private received(data: SocketData): void {
    let message: ComputeMessage;
    try {
      message = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')) as ComputeMessage;
    } catch (error) {
      log.warn('a compute sent a notification that is not JSON', { compute: this.id, error: messageOf(error) });
      return;
    }
    if (message.action !== 'ping') {
      this.listener.announced(this, message);
      return;
    }
    const { cpu_usage_percent: cpu, memory_usage_percent: memory } = message.event;
    this.usage = { cpu: typeof cpu === 'number' ? cpu : null, memory: typeof memory === 'number' ? memory : null };
    this.listener.changed(this);
  }

  /** A request whose answer is passed on as it comes, whatever its status. `path` stands below /v2/compute. */
  async pass(
    method: string,
    path: string,
    options: { body?: ReadableStream<Uint8Array> | null; signal?: AbortSignal; connect?: boolean } = {},
  ): Promise<Response> {
    if (!this.connected && options.connect !== false) await this.connect();
    return this.transport.request(BASE + path, {
      method,
      headers: { 'Content-Type': options.body ? 'application/octet-stream' : 'application/json' },
      ...(options.body ? { body: options.body } : {}),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  }

  /**
   * A request with JSON both ways; an empty answer is undefined.
   * @throws ComputeRefusal for what the compute refuses, Failure `time-out` past the limit
   */
  async call(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    if (!this.connected) {
      if (options.connect === false)
        throw new Failure('conflict', `The compute ${this.description.name} is not connected.`);
      await this.connect();
    }
    const body = options.body && Object.keys(options.body).length > 0 ? JSON.stringify(options.body) : null;
    const request = this.transport.request(BASE + path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === null ? {} : { body }),
    });
    const limit = options.limit ?? DEFAULT_LIMIT;
    const answer = limit === 0 ? await request : await within(request, limit, `${method} ${path}`);
    const text = await answer.text();
    if (answer.status >= 300) throw refusalOf(answer.status, text, `${method} ${path}`);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      throw new Failure(
        'conflict',
        `The compute ${this.description.name} answered ${method} ${path} with something that is not JSON.`,
      );
    }
  }

  get = (path: string, options?: CallOptions): Promise<unknown> => this.call('GET', path, options);
  post = (path: string, options?: CallOptions): Promise<unknown> => this.call('POST', path, options);
  put = (path: string, options?: CallOptions): Promise<unknown> => this.call('PUT', path, options);
  delete = (path: string, options?: CallOptions): Promise<unknown> => this.call('DELETE', path, options);

  openSocket(path: string): Promise<MessageSocket> {
    return this.transport.openSocket(BASE + path);
  }
}

async function within<T>(work: Promise<T>, limit: number, call: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Failure('time-out', `${call}: the compute did not answer within ${limit / 1000} s.`)),
      limit,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
