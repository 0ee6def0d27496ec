// `labwired top`: live figures of a lab in a terminal, and one picture of them for programs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Picture } from '../../src/client/commands/top.ts';
import { image, LICENCE, noCompiler } from '../compute/iou-support.ts';
import { client, Terminal } from './client.ts';
import { eventually } from './daemon.ts';
import { Lab, type NodeObject } from './lab.ts';

test('top shows what passes the links of a lab, and leaves the terminal as it was', async (t) => {
  const labwired = await client(t);
  const lab = await Lab.create(labwired.daemon, 'Büro mit einem sehr langen Namen, länger als das Fenster');
  await lab.pcsOnHub(2);
  let busiest: NodeObject | undefined;
  if (noCompiler === false) {
    const images = join(labwired.daemon.state, 'images/IOU');
    mkdirSync(images, { recursive: true });
    copyFileSync(image(), join(images, 'i86bi.bin'));
    await labwired.daemon.put('/v2/iou_license', { iourc_content: LICENCE });
    busiest = await labwired.daemon.post(`${lab.path}/nodes`, {
      ...{ name: 'I1', node_type: 'iou', compute_id: 'local', properties: { path: 'i86bi.bin' } },
    });
    await lab.start(busiest!);
  }
  const picture = async (): Promise<Picture> =>
    JSON.parse(await labwired.say('top', '--json', '--interval', '0.5')) as Picture;
  const flowsOf = ({ links }: Picture) => links.flatMap(({ forward, backward }) => [forward, backward]);
  const quiet = await eventually('silence', picture, (now) =>
    flowsOf(now).every((flow) => flow.frames_per_second === 0),
  );
  const running = busiest ? 4 : 3;
  assert.equal(quiet.nodes.filter(({ status }) => status === 'started').length, running);
  for (const { name, cpu_usage_percent: cpu, memory_bytes: memory } of quiet.nodes)
    if (name === 'I1') assert.ok(cpu !== null && cpu >= 0 && cpu < 100 && memory! > 4096, `${cpu} %, ${memory}`);
    else assert.deepEqual([cpu, memory], [null, null], `${name} runs no program`);
  assert.match(quiet.computes.map(({ cpu_usage_percent }) => cpu_usage_percent).join(), /^\d+$/);

  const pinging = labwired.spawn(['node', 'exec', 'PC1', 'ping 10.0.0.2 -t -i 20', '--timeout', '120']);
  pinging.stdout!.resume();
  const busy = (now: Picture): boolean => flowsOf(now).every(({ frames_per_second: rate }) => rate > 1);
  assert.equal(flowsOf(await eventually('frames on all links, both ways', picture, busy)).length, 4);
  const shown = await labwired.say('top', '--once');
  const [head, , , headings] = shown.split('\n');
  assert.match(head!, new RegExp(`^Büro.*: ${running} of ${running} nodes run$`));
  assert.match(shown, /\n[^\n]*: CPU \d+ %, memory \d+ %\n\n/);
  assert.match(headings!, /^NODE +STATUS +CPU +MEMORY +SENT +RECEIVED$/);
  const sorted = await labwired.say('top', '--once', '--sort', busiest ? 'memory' : 'name');
  assert.match(sorted, busiest ? /RECEIVED\nI1 +started +[\d.]+ % +[\d.]+ [KM]iB\n/ : /RECEIVED\nHub1 /);
  await labwired.fails(2, /--sort "size": choose cpu, memory, traffic, name\./, 'top', '--sort', 'size');
  assert.match(shown, /\nPC1:e0 > \S+:e\d +[\d.]+ +[\d.]+ (K?i?B)\/s/);
  await labwired.fails(2, /--interval "0\.1": write seconds, from 0\.2 to 60/, 'top', '--interval', '0.1');
  await labwired.fails(2, /--quiet: these figures have no identifiers/, 'top', '-q');
  await labwired.fails(1, /There is no lab "x"/, 'top', 'x');

  for (const [key, code] of [
    ['q', 0],
    ['\u0003', 0],
  ] as const) {
    const terminal = new Terminal(t, labwired, 40, ['top', '--interval', '0.2']);
    await terminal.shows(/FRAMES\/S[\s\S]*PC1:e0[\s\S]*FRAMES\/S/);
    assert.equal(terminal.isSane, false);
    await terminal.shows(/By traffic; c m t n sort, q leaves[\s\S]*NODE +CPU +MEMORY +TRAFFIC/);
    terminal.type('m');
    await terminal.shows(/By memory; /);
    const seen = terminal.text.length;
    terminal.resize(60, 10);
    await eventually('a wider picture', () =>
      /Büro mit einem sehr langen Namen, länger als/.test(terminal.text.slice(seen)),
    );
    terminal.type(key);
    assert.deepEqual(await terminal.ended, [code, null]);
    assert.equal(terminal.isSane, true);
    await eventually('the screen of before', () => terminal.text.includes('\u001b[?25h\u001b[?1049l'));
  }

  const closed = new Terminal(t, labwired, 40, ['top', '--interval', '0.2']);
  await closed.shows(/FRAMES\/S/);
  for (const line of stripVTControlCharacters(closed.text.replaceAll('\u001b[H', '\n')).split(/\r*\n/)) {
    assert.ok(line.length <= 40, line);
  }
  pinging.kill('SIGINT');
  await once(pinging, 'close');
  await labwired.say('lab', 'close', 'Büro mit einem sehr langen Namen, länger als das Fenster');
  assert.deepEqual(await closed.ended, [1, null]);
  assert.equal(closed.isSane, true);
  await closed.shows(/labwired: The project was closed|labwired: .*closed/);
});

test('top ends when its server goes, and when it is killed', async (t) => {
  const labwired = await client(t);
  await (await Lab.create(labwired.daemon)).pcsOnHub(1);
  const killed = new Terminal(t, labwired, 80, ['top']);
  await killed.shows(/FRAMES\/S/);
  killed.child.kill('SIGTERM');
  assert.deepEqual(await killed.ended, [143, null]);
  assert.equal(killed.isSane, true);
  const cut = new Terminal(t, labwired, 80, ['top']);
  await cut.shows(/FRAMES\/S/);
  await labwired.daemon.kill();
  assert.deepEqual(await cut.ended, [1, null]);
  assert.equal(cut.isSane, true);
});
