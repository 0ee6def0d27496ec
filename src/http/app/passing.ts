// On a host of a cluster that is not the controller: passes requests and WebSockets on to the controller, all but those for this host alone.
import { type ClientRequest, type IncomingMessage, request as open, type ServerResponse } from 'node:http';
import { type Duplex, pipeline } from 'node:stream';
import { type Failure, forbidden, messageOf, temporary } from '../../failures.ts';
import { type Dial, dialing } from '../../host/network/dialing.ts';
import { type GuardRules, refusal } from '../access/guard.ts';
import { CLIENT_HEADER, clientHeader } from '../access/passed-connections.ts';
import type { SeenClient, TrustedProxies } from '../access/proxies.ts';
import { v3Failure } from '../v3/form.ts';
import { isV3, renderFailure } from './errors.ts';
import type { WireMessage } from './wire-message.ts';

/** Headers of one connection, and those that only this server may send. */
const OF_THE_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'expect', CLIENT_HEADER]);

export interface PassingOptions {
  /** Until `begin`. */
  isController: boolean;
  /** The paths that each host answers for itself. */
  own: RegExp;
  rules: GuardRules;
  proxies: TrustedProxies;
}

export class Passing {
  readonly #options: PassingOptions;
  #isController: () => boolean;
  #dial: Dial = dialing(() => {
    throw new Error('the server has just started');
  });

  constructor(options: PassingOptions) {
    this.#options = options;
    this.#isController = () => options.isController;
  }

  /**
   * @param isController asked at each request: another host may take over
   * @param dial opens a connection to the controller, or throws the reason why it cannot
   */
  begin(isController: () => boolean, dial: () => Duplex): void {
    this.#isController = isController;
    this.#dial = dialing(dial);
  }

  /** Whether a request with this target is passed on. */
  wants(target: string): boolean {
    return !this.#isController() && !this.#options.own.test(pathOf(target));
  }

  answer(request: WireMessage, response: ServerResponse): void {
    const refused = this.#refusal(request);
    if (refused) return void answerFailure(request, response, refused);
    const onward = this.#open(request);
    onward.on('response', (answer) => {
      // The controller does not need what it has not read by now.
      request.discardRest(response);
      response.writeHead(answer.statusCode as number, answer.statusMessage, kept(answer, ['transfer-encoding']));
      pipeline(answer, response, () => {});
    });
    onward.on('error', (error) => {
      if (response.writableEnded) return;
      if (response.headersSent) response.destroy();
      else answerFailure(request, response, noController(error));
    });
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  }

  /** A complete opening of a WebSocket. */
  upgrade(request: WireMessage, socket: Duplex, head: Buffer): void {
    const refused = this.#refusal(request);
    if (refused) return void answerOnSocket(request, socket, refused);
    const onward = this.#open(request, ['Connection', 'Upgrade']);
    onward.on('upgrade', (answer, far, first) => {
      socket.write(headOf(answer, answer.rawHeaders));
      if (first.length > 0) socket.write(first);
      if (head.length > 0) far.write(head);
      pipeline(far, socket, far, () => {});
    });
    onward.on('response', (answer) => {
      socket.write(headOf(answer, [...kept(answer, ['transfer-encoding']), 'Connection', 'close']));
      pipeline(answer, socket, () => {});
    });
    onward.on('error', (error) => answerOnSocket(request, socket, noController(error)));
    socket.once('error', () => onward.destroy());
    onward.end();
  }

  /** The controller does not know the names of this host, so this host compares them. */
  #refusal(request: WireMessage): Failure | undefined {
    const { headers, target, method = 'GET' } = request;
    const reason = refusal(
      {
        ...{ method, path: pathOf(target), host: headers.host, origin: headers.origin },
        secFetchSite: text(headers['sec-fetch-site']),
        secFetchMode: text(headers['sec-fetch-mode']),
        secFetchDest: text(headers['sec-fetch-dest']),
        secure: this.#client(request).secure,
      },
      this.#options.rules,
    );
    return reason === undefined ? undefined : forbidden(reason);
  }

  #client({ socket, headers }: WireMessage): SeenClient {
    const { remoteAddress: address = '', encrypted: secure = false } = socket as {
      remoteAddress?: string;
      encrypted?: boolean;
    };
    return this.#options.proxies.client({ address, secure }, (name) => text(headers[name]));
  }

  #open(request: WireMessage, more: readonly string[] = []): ClientRequest {
    return open({
      createConnection: this.#dial as never,
      method: request.method ?? 'GET',
      path: request.target,
      setHost: false,
      headers: [...kept(request, []), ...more, CLIENT_HEADER, clientHeader(this.#client(request))] as never,
    });
  }
}

const pathOf = (target: string): string => target.split('?', 1)[0] as string;

const text = (header: string | string[] | undefined): string | undefined => header?.toString();

/** Names and values in turn, as they were sent, without those of the connection. */
function kept({ rawHeaders }: IncomingMessage, without: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => {
    const name = (rawHeaders[index - (index % 2)] as string).toLowerCase();
    return !OF_THE_CONNECTION.has(name) && !without.includes(name);
  });
}

function headOf({ statusCode, statusMessage }: IncomingMessage, headers: readonly string[]): string {
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...lines, '', ''].join('\r\n');
}

const noController = (error: Error): Failure =>
  temporary(
    `The controller of the cluster cannot be reached (${messageOf(error)}): nodes run on. Try again in some seconds: another host takes over, or its host comes back.`,
    error,
  );

function rendered({ target }: WireMessage, failure: Failure): Response {
  return isV3(pathOf(target)) ? v3Failure(failure, undefined) : renderFailure(failure);
}

function answerFailure(request: WireMessage, response: ServerResponse, failure: Failure): void {
  const { status, headers, body } = rendered(request, failure);
  response.writeHead(status, Object.fromEntries(headers));
  void new Response(body).text().then((content) => response.end(content));
  request.discardRest(response);
}

function answerOnSocket(request: WireMessage, socket: Duplex, failure: Failure): void {
  const { status, headers, body } = rendered(request, failure);
  void new Response(body).text().then((content) => {
    const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
    socket.end(
      [
        `HTTP/1.1 ${status} ${failure.code}`,
        ...lines,
        'Connection: close',
        `Content-Length: ${Buffer.byteLength(content)}`,
        '',
        content,
      ].join('\r\n'),
    );
  });
}
