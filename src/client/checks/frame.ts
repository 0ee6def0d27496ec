// The check that a frame passes a link, by a temporary capture.
import { conflict } from '../../failures.ts';
import { firstFrames } from '../captures/captured-frames.ts';
import { describeFrame } from '../captures/frame-line.ts';
import { beginCapture } from '../commands/capture.ts';
import type { Look } from './observation.ts';
import type { Scene } from './scene.ts';

interface Wanted {
  link: string;
  filter?: string | undefined;
}

/**
 * Waits for a frame that matches the filter.
 * @throws Failure if the link does not exist, is captured already, or the filter is invalid
 */
export async function lookForFrame(scene: Scene, { link: text, filter }: Wanted, seconds: number): Promise<Look> {
  const { session } = scene;
  const link = await scene.link(text);
  if (link.capturing) {
    throw conflict(`the link "${text}" already has a capture: stop it first, because a link has one at a time`);
  }
  if (filter !== undefined && !(await session.api.isLabwire())) {
    throw conflict(`${session.api.address} is not a Labwire and cannot filter captures: leave out the filter`);
  }
  const place = `${scene.path}/links/${link.link_id}`;
  const capture = session.ending.defer(() => session.api.post(`${place}/stop_capture`));
  try {
    await beginCapture(session, place, filter === undefined ? {} : { filter }, capture);
    const stream = await session.api.stream(`${place}/pcap`);
    const timer = setTimeout(() => stream.destroy(), seconds * 1000);
    try {
      const [frame] = await firstFrames(stream, 1);
      if (frame) return { passed: true, seen: describeFrame(frame.bytes) };
    } finally {
      clearTimeout(timer);
    }
    return { passed: false, seen: filter === undefined ? 'no frame came' : `no frame of "${filter}" came` };
  } finally {
    await capture.now();
  }
}
