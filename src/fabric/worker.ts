// The fabric's worker thread: runs the data plane and handles the main thread's requests between turns.

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Failure, messageOf } from '../failures.ts';
import { OpenDescriptors } from '../host/files/open-descriptors.ts';
import { FrameCalls } from '../host/system-calls.ts';
import { FramePlane } from './plane/frame-plane.ts';
import { FabricVerbs } from './plane/verbs.ts';
import { type Report, type Request, SIGNAL, type WorkerData } from './protocol.ts';

const { signals, descriptors, frameLoop, kernelLinks } = workerData as WorkerData;

function report(message: Report): void {
  parentPort!.postMessage(message);
}

/** Handles a request. An unexpected error is the answer and does not end the worker. */
function answer(verbs: FabricVerbs, { id, verb, body }: Request): Report {
  try {
    const result = (verbs[verb] as (body: unknown) => unknown)(body);
    return { kind: 'answer', id, result };
  } catch (error) {
    const code = error instanceof Failure ? error.code : 'internal';
    return { kind: 'failure', id, code, message: messageOf(error) };
  }
}

/** Uses the native frame loop if it is enabled and can be loaded; otherwise returns the reason. */
function makePlane(calls: FrameCalls): { plane: FramePlane; withoutLoop?: string } {
  const withKernel = kernelLinks === 'automatic';
  const withoutLoop = { withLoop: false, withKernel };
  if (frameLoop === 'off')
    return { plane: new FramePlane(calls, report, withoutLoop), withoutLoop: 'it is turned off' };
  try {
    return { plane: new FramePlane(calls, report, { withLoop: true, withKernel }) };
  } catch (error) {
    return { plane: new FramePlane(calls, report, withoutLoop), withoutLoop: messageOf(error) };
  }
}

function run(): void {
  const calls = new FrameCalls(new OpenDescriptors(descriptors));
  const { plane, withoutLoop } = makePlane(calls);
  const verbs = new FabricVerbs(plane, (device, message) => report({ kind: 'message', device, message }));
  Atomics.store(signals, SIGNAL.wakeUp, plane.wakeUp);
  report({ kind: 'ready', withoutLoop });
  while (!verbs.stopped && Atomics.load(signals, SIGNAL.leave) === 0) {
    plane.step();
    if (Atomics.exchange(signals, SIGNAL.posted, 0) === 0) continue;
    const answers: Report[] = [];
    for (let posted = receiveMessageOnPort(parentPort!); posted; posted = receiveMessageOnPort(parentPort!))
      answers.push(answer(verbs, posted.message as Request));
    // The frame that follows an answer takes the new way.
    plane.settle();
    for (const one of answers) report(one);
  }
}

run();
