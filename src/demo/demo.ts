// The main job, shown on a running server by nothing but its public API: two virtual PCs on a hub that ping each other, and what
// a capture sees of it.
import { Failure, messageOf } from '../failures.ts';
import { CaptureReader } from './capture-reader.ts';
import { Lab, type Pc } from './lab.ts';
import { LabServer } from './lab-server.ts';
import { PcConsole } from './pc-console.ts';
import { frameLines, Story, thingsToTry } from './story.ts';

/** More than three are of no interest, fewer could be luck. */
const PINGS = 3;
/** The search for PC2's hardware address, and the pings. */
const FRAMES_SHOWN = 2 + 2 * PINGS;
/** Frames of the last ping may be on their way for a moment. */
const FRAMES_MS = 2000;

/**
 * Builds the lab on the server at `url` (`http://[user:password@]host:port`), tells each step through `write`, and leaves the
 * lab running. After a failure the lab is removed again.
 * @throws Failure that says what is wrong and what to do
 */
export async function runDemo(url: string, write: (text: string) => void): Promise<void> {
  const story = new Story(write);
  const server = new LabServer({ url, announce: (method, path, body) => story.request(method, path, body) });
  await using undo = new AsyncDisposableStack();

  story.step(`Ask who answers at ${server.address}`);
  const release = await server.release();
  story.say(`A server of the GNS3 API, release ${release}.`);

  story.step('Make a lab. The API calls it a project');
  const lab = await Lab.create(server);
  undo.defer(async () => {
    story.say('', 'The lab is removed again:');
    await lab.remove().catch((thrown: unknown) => story.say(messageOf(thrown)));
  });
  story.say(`Its name is "${lab.name}".`);

  story.step('Put two virtual PCs and a hub into it');
  const one = await lab.addPc('PC1', -250);
  const two = await lab.addPc('PC2', 185);
  const hub = await lab.addHub();

  story.step('Plug both PCs into the hub');
  const cable = await lab.connect(one, hub, 0);
  await lab.connect(two, hub, 1);

  story.step('Start the PCs');
  await lab.start(one);
  await lab.start(two);

  story.step('Give the PCs addresses, on their consoles');
  using open = new DisposableStack();
  const consoleOfOne = open.use(await openConsole(story, one));
  await setAddress(story, one, consoleOfOne, '10.0.0.1');
  const consoleOfTwo = open.use(await openConsole(story, two));
  await setAddress(story, two, consoleOfTwo, '10.0.0.2');

  story.step('Capture the cable between PC1 and the hub');
  await lab.startCapture(cable);
  const capture = new CaptureReader({ open: (signal) => lab.capture(cable, signal), count: FRAMES_SHOWN });
  await capture.start();
  undo.defer(async () => void (await capture.stop(0)));

  story.step('Ping from PC1 to PC2');
  await ping(story, one, consoleOfOne, '10.0.0.2');

  story.step('Read the capture: its first frames');
  story.say(...frameLines(await capture.stop(FRAMES_MS)));
  await lab.stopCapture(cable);

  undo.move();
  write(thingsToTry({ server, lab, pc: one }));
}

async function openConsole(story: Story, { name, consoleHost, consolePort }: Pc): Promise<PcConsole> {
  story.say(`The console of ${name}: telnet ${consoleHost} ${consolePort}`);
  return await PcConsole.open(consoleHost, consolePort);
}

async function setAddress(story: Story, { name }: Pc, console: PcConsole, address: string): Promise<void> {
  const command = `ip ${address}/24`;
  story.say(`${name}> ${command}`);
  // VPCS calls a PC without a name "PC1": its answer would not help anybody here.
  const answer = await console.command(command);
  if (!answer.some((line) => line.includes(`: ${address} `))) {
    throw new Failure('conflict', `${name} does not take the address ${address}: ${answer.join(' ')}`);
  }
  // Or it would be gone after the next start.
  story.say(`${name}> save`);
  await console.command('save');
}

async function ping(story: Story, { name }: Pc, console: PcConsole, address: string): Promise<void> {
  const command = `ping ${address} -c ${PINGS}`;
  story.say(`${name}> ${command}`);
  const answer = await console.command(command);
  story.say(...answer);
  if (!answer.some((line) => line.includes('ttl='))) {
    throw new Failure('conflict', `${address} does not answer ${name}: no frame came back over the cables.`);
  }
}
