// The demonstration, using only the public API of a running server: two virtual PCs on a hub ping each other, and a capture shows it.
import { conflict, Failure, messageOf, unauthorized } from '../../failures.ts';
import { PC1, PC2 } from '../../layout/demonstration.ts';
import { firstFrames } from '../captures/captured-frames.ts';
import { promptAs } from '../console/console-answer.ts';
import { talk } from '../console/console-talk.ts';
import { Ending } from '../frame/ending.ts';
import { Api } from '../server/api.ts';
import { Lab, type Pc, request, type ShownServer } from './lab.ts';
import { frameLines, Story, thingsToTry } from './story.ts';

/** More than three are of no interest, fewer could be luck. */
const PINGS = 3;
/** The search for PC2's hardware address, and the pings. */
const FRAMES_SHOWN = 2 + 2 * PINGS;
/** Frames of the last ping may be on their way for a moment. */
const FRAMES_MS = 2000;
/** Time for a PC to start. */
const ANSWER_SECONDS = 20;
/** The prompt of VPCS, with or without the name of its PC. */
const PROMPT = promptAs('^[^\\s>]+>');

/**
 * Creates the lab on the server at `url` (`http://[user:password@]host:port`), reports each step to `write`, and leaves the lab running. On
 * failure the lab is deleted.
 * @throws Failure with the problem and its fix
 */
export async function runDemo(url: string, write: (text: string) => void): Promise<void> {
  const story = new Story(write);
  const { username, hostname } = new URL(url);
  const server = { api: new Api({ url }), story, host: hostname.replace(/^\[(.*)\]$/, '$1') };
  const { address } = server.api;
  await using undo = new AsyncDisposableStack();

  story.step(`Ask who answers at ${address}`);
  story.say(`A server of the GNS3 API, release ${await releaseOf(server, username)}.`);

  story.step('Make a lab. The API calls it a project');
  const lab = await Lab.create(server);
  undo.defer(async () => {
    story.say('', 'The lab is removed again:');
    await lab.remove().catch((thrown: unknown) => story.say(messageOf(thrown)));
  });
  story.say(`Its name is "${lab.name}".`);

  story.step('Put two virtual PCs and a hub into it');
  const one = await lab.addPc(PC1);
  const two = await lab.addPc(PC2);
  const hub = await lab.addHub();

  story.step('Plug both PCs into the hub');
  const link = `links/${await lab.connect(one, hub, 0)}`;
  await lab.connect(two, hub, 1);

  story.step('Start the PCs');
  for (const { nodeId } of [one, two]) await lab.post(`nodes/${nodeId}/start`);

  story.step('Give the PCs addresses, on their consoles');
  const command = (pc: Pc, line: string): Promise<string[]> => typeAt(server, lab, pc, line);
  for (const [pc, ip] of [
    [one, '10.0.0.1'],
    [two, '10.0.0.2'],
  ] as const) {
    story.say(`The console of ${pc.name}: telnet ${pc.consoleHost} ${pc.consolePort}`);
    await command(pc, '');
    // VPCS calls a PC without a name "PC1": its answer would not help anybody here.
    const answer = await command(pc, `ip ${ip}/24`);
    if (!answer.some((line) => line.includes(`: ${ip} `))) {
      throw conflict(`${pc.name} does not take the address ${ip}: ${answer.join(' ')}`);
    }
    // Or it would be gone after the next start.
    await command(pc, 'save');
  }

  story.step('Capture the cable between PC1 and the hub');
  await lab.post(`${link}/start_capture`);
  story.request('GET', `${lab.path}/${link}/pcap`);
  const stream = await server.api.stream(`${lab.path}/${link}/pcap`);
  undo.defer(() => void stream.destroy());
  const frames = firstFrames(stream, FRAMES_SHOWN);
  // They are waited for below.
  frames.catch(() => {});

  story.step('Ping from PC1 to PC2');
  const pings = await command(one, `ping 10.0.0.2 -c ${PINGS}`);
  story.say(...pings);
  if (!pings.some((line) => line.includes('ttl='))) {
    throw conflict(`10.0.0.2 does not answer ${one.name}: no frame came back over the cables.`);
  }

  story.step('Read the capture: its first frames');
  const timer = setTimeout(() => stream.destroy(), FRAMES_MS);
  story.say(...frameLines(await frames));
  clearTimeout(timer);
  await lab.post(`${link}/stop_capture`);

  undo.move();
  const user = username === '' ? undefined : decodeURIComponent(username);
  write(thingsToTry({ server: { address, user }, lab, pc: one }));
}

/**
 * The server's API release.
 * @throws Failure if there is no answer, or it is from another program
 */
async function releaseOf(server: ShownServer, username: string): Promise<string> {
  const { address } = server.api;
  try {
    return (await request<{ version: string }>(server, 'GET', '/v2/version')).version;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unauthorized' || username !== '') throw error;
    const withUser = address.replace('//', '//USER:PASSWORD@');
    throw unauthorized(`${address} asks for a user and a password: labwired demo ${withUser}`);
  }
}

/** Types a line at a PC's console; the lines of its answer, without empty ones. An empty line waits for the prompt and is not shown. */
async function typeAt({ api, story }: ShownServer, lab: Lab, pc: Pc, line: string): Promise<string[]> {
  if (line !== '') story.say(`${pc.name}> ${line}`);
  let answer = '';
  const hear = (text: string): void => {
    answer += text;
  };
  const console = `${lab.path}/nodes/${pc.nodeId}/console/ws`;
  await talk({ api, ending: new Ending() }, console, { line, prompt: PROMPT, seconds: ANSWER_SECONDS, hear });
  return answer.split('\n').flatMap((one) => one.trim() || []);
}
