// A frame that passes a link: seen by a capture of its own, which ends with the look.

import { describeFrame } from '../../demo/frames.ts';
import { capturedFrames } from '../../demo/pcap-stream.ts';
import { Failure } from '../../failures.ts';
import { beginCapture } from '../commands/capture.ts';
import type { Look } from './observation.ts';
import type { Scene } from './scene.ts';

interface Wanted {
  link: string;
  filter?: string | undefined;
}

/**
 * Waits for a frame that the filter accepts.
 * @throws Failure when there is no such link, it is captured already, or the filter is none
 */
export async function lookForFrame(scene: Scene, { link: text, filter }: Wanted, seconds: number): Promise<Look> {
  const { session } = scene;
  const link = await scene.link(text);
  if (link.capturing) {
    throw new Failure(
      'conflict',
      `the link "${text}" is captured already: end that capture, as a link has one at a time`,
    );
  }
  if (filter !== undefined && !(await session.api.isLabwire())) {
    throw new Failure(
      'conflict',
      `${session.api.address} is no Labwire, and captures all frames or none: leave the filter out`,
    );
  }
  const place = `${scene.path}/links/${link.link_id}`;
  const capture = session.ending.defer(() => session.api.post(`${place}/stop_capture`));
  try {
    await beginCapture(session, place, filter === undefined ? {} : { filter }, capture);
    const stream = await session.api.stream(`${place}/pcap`);
    const timer = setTimeout(() => stream.destroy(), seconds * 1000);
    try {
      for await (const { bytes } of capturedFrames(stream)) return { passed: true, seen: describeFrame(bytes) };
    } catch (error) {
      if (!stream.destroyed || error instanceof Failure) throw error;
    } finally {
      clearTimeout(timer);
      stream.destroy();
    }
    return { passed: false, seen: filter === undefined ? 'no frame came' : `no frame of "${filter}" came` };
  } finally {
    await capture.now();
  }
}
