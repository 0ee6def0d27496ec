// `labwired capture`: the frames of a link as a pcap stream, or captures of several links merged into one file.
import { open } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as v from 'valibot';
import type { LinkCapture } from '../../api/routes/links.ts';
import { WrongUsage } from '../../commands/wrong-usage.ts';
import { conflict, Failure, messageOf, systemCode, unavailable } from '../../failures.ts';
import { throwFileFailure } from '../../host/files/atomic-file.ts';
import { type Noun, verb } from '../frame/command.ts';
import type { Deferred } from '../frame/ending.ts';
import type { Session } from '../frame/session.ts';
import { endText, findLink } from '../server/link-ends.ts';
import { isStandardOutput, mustBeFree, REPLACES, save } from '../terminal/files.ts';
import { secondsOf } from '../terminal/seconds.ts';
import { wiring } from './link.ts';

const FORMATS = ['pcap', 'nsecpcap', 'pcapng'] as const;

/** Time for the last records to arrive. */
const LAST_FRAMES_MS = 3_000;

interface CaptureFlags {
  to?: string;
  filter?: string;
  format?: string;
  seconds?: string;
  force?: true;
  merge?: true;
}

/** @throws WrongUsage */
function bodyOf({ filter, format = 'pcap' }: CaptureFlags): v.InferInput<typeof LinkCapture> {
  const known = FORMATS.find((one) => one === format);
  if (!known) throw new WrongUsage(`--format "${format}": choose ${FORMATS.join(', ')}.`);
  return { ...(known !== 'pcap' && { format: known }), ...(filter !== undefined && { filter }) };
}

/** The output; frames are written as they come, so that others can read the file meanwhile. */
async function target(file: string): Promise<Writable> {
  if (isStandardOutput(file)) return process.stdout;
  return (await open(file, 'w').catch(throwFileFailure(file))).createWriteStream();
}

/** @throws WrongUsage where a terminal would be shown frames */
function refuseTerminal(to: string): void {
  if (!isStandardOutput(to) || !process.stdout.isTTY) return;
  throw new WrongUsage(
    'A terminal cannot show frames: write them to a file with --to FILE, or pipe them to tshark -r -.',
  );
}

/** Merges the present captures of these links, or of all. */
async function merge(session: Session, wanted: readonly string[], flags: CaptureFlags): Promise<void> {
  const { to = '-', filter, format, seconds } = flags;
  if ([filter, format, seconds].some((flag) => flag !== undefined))
    throw new WrongUsage('--merge reads existing captures: leave out --filter, --format and --seconds.');
  refuseTerminal(to);
  const { nodes, links, path } = await wiring(session);
  await mustBeFree(to, flags.force === true);
  const ids = wanted.map((word) => findLink(nodes, links, word).link_id);
  const query = ids.length === 0 ? '' : `?links=${ids.join(',')}`;
  await save(session, await session.api.stream(`${path.replace(/\/links$/, '')}/merged-captures${query}`), to);
}

async function run(session: Session, words: readonly string[], flags: CaptureFlags): Promise<void> {
  if (flags.merge) return merge(session, words, flags);
  const [wanted, ...others] = words;
  if (wanted === undefined) throw new WrongUsage('LINK is missing. Write: labwired capture LINK');
  if (others.length > 0) throw new WrongUsage('Name one link; only --merge accepts several.');
  const body = bodyOf(flags);
  const { to = '-' } = flags;
  const seconds = flags.seconds === undefined ? undefined : secondsOf('--seconds', flags.seconds, 0);
  refuseTerminal(to);
  const { nodes, links, path } = await wiring(session);
  const link = findLink(nodes, links, wanted);
  if (link.capturing && Object.keys(body).length > 0) {
    throw conflict('The link already has a capture: leave out --filter and --format to read it.');
  }
  await mustBeFree(to, flags.force === true);
  const place = `${path}/${link.link_id}`;
  const stop = (): Promise<void> => session.api.post(`${place}/stop_capture`);
  // Registered before the start, so that an interrupt at this moment leaves no capture behind.
  const begun = link.capturing ? undefined : session.ending.defer(stop);
  if (begun) await beginCapture(session, place, body, begun);
  const frames = await session.api.stream(`${place}/pcap`);
  const copied = copy(frames, await target(to));
  begun?.cancel();
  // Stops our capture on the server and waits for its last whole record. Another client's capture continues.
  const end = async (): Promise<void> => (link.capturing ? void frames.destroy() : stop());
  session.ending.defer(async () => {
    await end();
    await Promise.race([copied, sleep(LAST_FRAMES_MS)]);
  });
  // Ctrl+C is the normal end without a duration; with one it is an interruption.
  session.ending.isUsual = seconds === undefined;
  session.remark(`Capturing between ${link.nodes.map((end) => endText(nodes, end)).join(' and ')}; Ctrl+C ends it.`);
  if (seconds !== undefined) setTimeout(() => void end().catch(() => frames.destroy()), seconds * 1000).unref();
  await copied;
}

/**
 * Starts a capture that is stopped at the command's end.
 * @throws Failure if the server refuses
 */
export async function beginCapture(session: Session, place: string, body: object, end: Deferred): Promise<void> {
  try {
    await session.api.post(`${place}/start_capture`, body);
  } catch (error) {
    // Another client may have started it.
    if (error instanceof Failure && error.code === 'conflict') end.cancel();
    if (error instanceof Failure && error.message.startsWith('filter:'))
      throw new Failure(error.code, `${error.message} (labwired help captures)`);
    throw error;
  }
}

/** Until the capture ends, or its reader has seen enough. */
async function copy(frames: Readable, output: Writable): Promise<void> {
  try {
    await pipeline(frames, output, { end: output !== process.stdout });
  } catch (error) {
    const code = systemCode(error) ?? '';
    if (code === 'EPIPE' || (code === 'ERR_STREAM_PREMATURE_CLOSE' && frames.destroyed)) return;
    throw unavailable(`The capture was interrupted: ${messageOf(error)}`);
  }
}

export const capture: Noun = {
  name: 'capture',
  summary: 'captures of links',
  verbs: [
    verb({
      name: '',
      words: ['[LINK...]'],
      summary: 'captures a link, named by id or by one end (PC1 or PC1:e0), until Ctrl+C',
      flags: {
        to: { value: 'FILE', summary: 'a file; - is standard output (default)' },
        filter: { value: 'EXPRESSION', summary: 'only matching frames, such as "arp or icmp"' },
        format: { value: 'FORMAT', summary: `${FORMATS.join(', ')} (pcap)` },
        seconds: { value: 'SECONDS', summary: 'end after this time' },
        merge: { summary: 'instead: merge existing captures of these or all links into one pcapng file, by time' },
        force: REPLACES,
      },
      inLab: true,
      run: (session, words, flags) => run(session, words, flags),
    }),
  ],
};
