// Servers that are worse than ours on purpose. Each rig is tried on them: one that does not find them out proves nothing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../system/daemon.ts';
import type { Members, Server } from './lab-state.ts';

/** Makes a server worse. @param directory of a project of it */
export type Canary = (server: Server, directory: string) => Server;

type Asking = Server['ask'];

/** The server, with each change handed to `change` and each answer to a GET to `read`. */
function between(
  server: Server,
  { change, read = (answer) => answer }: { change: Asking; read?: (answer: Answer, path: string) => Answer },
): Server {
  const ask: Asking = async (method, path, question) =>
    method === 'GET' ? read(await server.ask(method, path, question), path) : change(method, path, question);
  return { ask };
}

const failed = (answer: Answer | undefined): boolean => answer === undefined || answer.status >= 300;

/** Calls `then` after each change that was not acknowledged. */
function afterFailure(server: Server, then: (path: string, body: unknown) => void): Asking {
  return async (method, path, question) => {
    const answer = await server.ask(method, path, question).catch((error: Error) => error);
    if (answer instanceof Error || failed(answer)) then(path, question?.body);
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

/** An answer with another body. */
function withBody(answer: Answer, json: unknown): Answer {
  return { ...answer, json, text: JSON.stringify(json) };
}

function mapThings(answer: Answer, path: string, map: (thing: Members, index: number) => Members): Answer {
  const isLab = /\/(nodes|drawings|links)$/.test(path) && Array.isArray(answer.json);
  return isLab ? withBody(answer, (answer.json as Members[]).map(map)) : answer;
}

const corruptsRefused: Canary = (server) => {
  let corrupt = false;
  return between(server, {
    change: afterFailure(server, () => {
      corrupt = true;
    }),
    read: (answer, path) =>
      mapThings(answer, path, (thing, index) => (corrupt && index === 0 ? { ...thing, x: -12_345 } : thing)),
  });
};

/** Of a change that is not acknowledged, one member is made, the others are not. */
const makesHalf: Canary = (server) => {
  const half = new Map<string, Members>();
  return between(server, {
    change: afterFailure(server, (path, body) => {
      if (body !== null && typeof body === 'object' && 'x' in body) half.set(path.split('/').at(-1)!, { x: body.x });
    }),
    read: (answer, path) =>
      mapThings(answer, path, (thing) => ({ ...thing, ...half.get(thing['node_id'] ?? thing['drawing_id']) })),
  });
};

/** Says that a drawing or node is changed, and does not change it. */
const losesAcknowledged: Canary = (server) =>
  between(server, {
    change: async (method, path, question) => {
      if (method !== 'PUT' || !/\/(drawings|nodes)\//.test(path)) return server.ask(method, path, question);
      const [answer, body] = [await server.ask('GET', path), question?.body as Members];
      const label = body['name'] === undefined ? {} : { label: { ...answer.json?.label, text: body['name'] } };
      return withBody({ ...answer, status: 201 }, { ...answer.json, ...body, ...label });
    },
  });

/** Leaves a file for each change that is not acknowledged. */
const leavesFiles: Canary = (server, directory) =>
  between(server, {
    change: afterFailure(server, () => writeFileSync(join(directory, 'left-over'), '')),
  });

export const CANARIES: Readonly<Record<string, Canary>> = {
  'corrupts another thing with each change that it refuses': corruptsRefused,
  'makes half of each change that it refuses': makesHalf,
  'acknowledges changes that it does not make': losesAcknowledged,
  'leaves a file behind with each change that it refuses': leavesFiles,
};
