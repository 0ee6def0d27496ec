// Somebody who works on a lab while it is attacked: reads and changes a drawing, one request after the other. A thread of its own, so
// that its waiting is the server's doing and not that of the test.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { anonymousMebibytes } from '../system/processes.ts';

interface Work {
  port: number;
  /** Path of a drawing. */
  drawing: string;
  /** The daemon's process. */
  pid: number;
}

export interface WorkDone {
  /** Milliseconds of each request. */
  waits: number[];
  /** Statuses that were not those of success. */
  refused: number[];
  /** Most anonymous memory of the daemon that was seen, MiB. */
  peak: number;
}

/** Lets somebody work until `stop` is called. */
export function somebodyAtWork(work: Work): { stop: () => Promise<WorkDone> } {
  const worker = new Worker(new URL(import.meta.url), { workerData: work });
  const done = new Promise<WorkDone>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  done.catch(() => {});
  return {
    stop: () => {
      worker.postMessage('stop');
      return done;
    },
  };
}

async function work({ port, drawing, pid }: Work, isOver: () => boolean): Promise<WorkDone> {
  const done: WorkDone = { waits: [], refused: [], peak: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let step = 0; !isOver(); step++) {
    const changes = step % 2 === 0;
    const start = performance.now();
    const status = await new Promise<number>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: drawing, method: changes ? 'PUT' : 'GET', agent };
      const sent = request(options, (answer) => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode!));
      });
      sent.on('error', reject);
      sent.end(changes ? JSON.stringify({ x: step }) : undefined);
    });
    done.waits.push(performance.now() - start);
    if (status !== (changes ? 201 : 200)) done.refused.push(status);
    done.peak = Math.max(done.peak, anonymousMebibytes(pid));
    await sleep(5);
  }
  agent.destroy();
  return done;
}

if (parentPort) {
  let over = false;
  parentPort.once('message', () => {
    over = true;
  });
  parentPort.postMessage(await work(workerData as Work, () => over));
}
