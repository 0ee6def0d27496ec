// The IOU licence file: where to find it, and whether it is for this host. Only the image checks the key, which is
// never shown.
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../../failures.ts';
import { writeContained } from '../../../host/files/contained-files.ts';
import { log } from '../../../host/log.ts';
import { refusal } from './image.ts';

const NAME = 'iourc';
const HOME_NAME = '.iourc';
/** Only the server's user may read it. */
const MODE = 0o600;
/** 16 hexadecimal digits and `;`. */
const KEY = /^[0-9a-fA-F]{16};$/;
const FIX = 'write "[license]", and below it "<name of this host> = <16 hexadecimal digits>;"';

export interface LicencePlaces {
  /** `iourc_path` of section `[IOU]`; may be empty. */
  configured: string;
  /** Path of the licence submitted for a node. */
  submitted?: string;
  /** The node's directory. */
  directory?: string;
}

/** The path of the licence that clients submitted for a node. */
export function submittedPath(state: string, nodeId: string): string {
  return join(state, 'iou-licences', nodeId);
}

/** Stores a submitted licence for the node and, as clients expect, for the user. */
export async function keepSubmitted(state: string, nodeId: string, content: string): Promise<void> {
  await mkdir(join(state, 'iou-licences'), { recursive: true, mode: 0o700 });
  await writeContained(state, `iou-licences/${nodeId}`, content, { createParents: false, mode: MODE });
  const home = homedir();
  if ((await readFile(join(home, HOME_NAME), 'utf8').catch(() => undefined)) === content) return;
  await writeContained(home, HOME_NAME, content, { createParents: false, mode: MODE }).catch((error: unknown) => {
    log.warn('the IOU licence is not kept in the home directory', { reason: messageOf(error) });
  });
}

export async function forgetSubmitted(state: string, nodeId: string): Promise<void> {
  await rm(submittedPath(state, nodeId), { force: true });
}

/**
 * The licence file of a node's start.
 * @throws Failure `conflict` (`IOUError`)
 */
export async function findLicence({ configured, submitted, directory }: LicencePlaces): Promise<string> {
  if (configured !== '') {
    if (await isFile(configured)) return configured;
    throw refusal(`iourc_path: ${configured} is missing; correct it in section [IOU], or put the licence there.`);
  }
  const places = [submitted, join(homedir(), HOME_NAME), directory && join(directory, NAME)];
  for (const path of places) if (path && (await isFile(path))) return path;
  const fix = 'submit one with PUT /v2/iou_license, or name a file with iourc_path in section [IOU]';
  throw refusal(`There is no IOU licence (iourc) on this host; ${fix}.`);
}

/**
 * Checks the format of a licence for this host.
 * @throws Failure `conflict` (`IOUError`) with the fix, never with the key
 */
export async function checkLicence(path: string, host = hostname()): Promise<void> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path));
  } catch (thrown) {
    const why = thrown instanceof TypeError ? 'it is no text in UTF-8' : messageOf(thrown);
    throw refusal(`The IOU licence ${path} cannot be read (${why}); ${FIX}.`);
  }
  const keys = licenceKeys(text);
  if (keys === undefined) throw refusal(`The IOU licence ${path} has no section [license]; ${FIX}.`);
  const key = keys.get(host.toLowerCase());
  if (key === undefined) {
    const others = [...keys.keys()].join(', ') || 'no host';
    throw refusal(`The IOU licence ${path} is for ${others}, not for this host, ${host}; ${FIX}.`);
  }
  if (!key.endsWith(';')) throw refusal(`The key of ${host} in the IOU licence ${path} does not end with ";"; ${FIX}.`);
  if (!KEY.test(key)) throw refusal(`The key of ${host} in the IOU licence ${path} is not 16 digits long; ${FIX}.`);
  if (host.length > 15) log.warn('IOU may not accept a host name of more than 15 characters', { host });
}

/** By host, in lower case; undefined if the section is missing. */
function licenceKeys(text: string): Map<string, string> | undefined {
  let keys: Map<string, string> | undefined;
  let isInside = false;
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
    const section = /^\s*\[([^\]]*)\]\s*$/.exec(line)?.[1];
    if (section !== undefined) {
      isInside = section === 'license';
      if (isInside) keys ??= new Map();
      continue;
    }
    const [, host, key] = /^\s*([^#;=:\s][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (isInside && host !== undefined) keys?.set(host.toLowerCase(), key ?? '');
  }
  return keys;
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
