// `labwired test` and `labwired lab start FILE` with the executable: checks that pass and fail, reports for CI, and starts in an order.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { SaxesParser } from 'saxes';
import { parse } from 'yaml';
import { BUILT_IN, Client } from './client.ts';
import { eventually, startDaemon } from './daemon.ts';
import { Lab, missing } from './lab.ts';

interface Reported {
  passed: boolean;
  checks: { name: string; kind: string; passed: boolean; seen: string; seconds: number; looks: number; line: number }[];
}

/** A daemon with the lab of this many PCs on a hub, which a file of these lines describes. */
async function scene(t: TestContext, count: number, text: string) {
  const daemon = await startDaemon(t, { config: BUILT_IN });
  const labwired = new Client(daemon);
  const lab = await Lab.create(daemon, 'Checked');
  const hub = await lab.hub('Hub');
  const nodes: string[] = [];
  const links: string[] = [];
  for (let number = 1; number <= count; number++) {
    const pc = await lab.pc(`PC${number}`, { properties: { startup_script: `ip 10.0.0.${number}/24\n` } });
    await lab.link(pc, hub, number - 1);
    nodes.push(`  PC${number}: {type: vpcs}`);
    links.push(`  - PC${number}:e0 -- Hub:e${number - 1}`);
  }
  const file = join(daemon.directory, 'lab.yaml');
  const write = (more: string, own = nodes): void =>
    writeFileSync(
      file,
      ['name: Checked', 'nodes:', '  Hub: {type: ethernet_hub}', ...own, 'links:', ...links, more].join('\n'),
    );
  write(text);
  return { daemon, labwired, lab, file, write };
}

test('pings, consoles and frames are looked at, and what was seen is said', async (t) => {
  const { labwired, lab, write, daemon } = await scene(
    t,
    2,
    `checks:
  - ping: {from: PC1, to: 10.0.0.2, count: 2, round_trip: {max: 5000}}
  - {name: by name, ping: {from: PC2, to: PC1}}
  - console: {node: PC1, send: show ip, expect: 10.0.0.1/24}
  - console: {node: PC2, expect: {regex: 'VPCS.*>'}}
  - frame: {link: 'PC1:e0 -- Hub:e0', filter: icmp}
  - frame: {link: PC1, filter: 'arp or icmp'}
  - ping: {from: PC1, to: 10.0.0.2, count: 20, timeout: 60}
`,
  );
  await labwired.say('lab', 'start', 'Checked');
  const xml = join(daemon.directory, 'report.xml');
  const said = await labwired.say('test', '--junit', xml);
  assert.match(said, /^passed {2}ping from PC1 to 10\.0\.0\.2: 2 of 2 answered, [\d.]+ ms on average \([\d.]+ s\)$/m);
  assert.match(said, /^passed {2}by name: 3 of 3 answered/m);
  assert.match(said, /^passed {2}console of PC1: "10\.0\.0\.1\/24": IP\/MASK/m);
  assert.match(said, /^passed {2}frame on PC1:e0 -- Hub:e0: icmp: .*ICMP {2}10\.0\.0\.\d > 10\.0\.0\.\d echo/m);
  assert.match(said, /\n7 checks passed, after [\d.]+ s\.$/);
  assert.deepEqual(
    casesIn(xml).map(({ failure }) => failure),
    Array(7).fill(undefined),
  );
  const links: { capturing: boolean }[] = await daemon.get(`${lab.path}/links`);
  assert.ok(
    links.every(({ capturing }) => !capturing),
    'captures end with the checks',
  );

  write(`checks:
  - {name: 'nobody & <co>', ping: {from: PC1, to: 10.0.0.9, timeout: 4}}
  - {name: too slow, ping: {from: PC1, to: 10.0.0.2, round_trip: {min: 5000}, timeout: 3}}
  - {name: not there, console: {node: PC2, send: show ip, expect: 10.0.0.77, timeout: 3}}
  - {name: no frame, frame: {link: PC2, filter: tcp port 179, timeout: 3}}
  - {name: good, ping: {from: PC2, to: 10.0.0.1}}
`);
  const failed = await labwired.run('test', '--json', '--junit', xml);
  assert.deepEqual([failed.code, /4 of 5 checks failed/.test(failed.error)], [1, true], failed.error);
  const { passed, checks } = JSON.parse(failed.out) as Reported;
  assert.equal(passed, false);
  assert.deepEqual(
    checks.map((one) => [one.name, one.kind, one.passed, one.line]),
    [
      ['nobody & <co>', 'ping', false, 10],
      ['too slow', 'ping', false, 11],
      ['not there', 'console', false, 12],
      ['no frame', 'frame', false, 13],
      ['good', 'ping', true, 14],
    ],
  );
  assert.match(checks[0]!.seen, /^0 of 3 answered/);
  assert.match(checks[1]!.seen, /3 of 3 answered, .* less than 5000 ms/);
  assert.match(checks[2]!.seen, /"10\.0\.0\.77" is not in the answer/);
  assert.match(checks[3]!.seen, /no frame of "tcp port 179" came/);
  const cases = casesIn(xml);
  assert.deepEqual([cases[0]!.name, cases[0]!.failure], ['nobody & <co>', checks[0]!.seen]);
  assert.deepEqual(
    cases.map(({ failure }) => failure !== undefined),
    [true, true, true, true, false],
  );

  const alone = (text: string): void => writeFileSync(join(daemon.directory, 'checks.yaml'), text);
  const one = 'checks:\n  - console: {node: PC1, send: show ip, expect: 10.0.0.1/24}\n';
  alone(one);
  assert.match(await labwired.say('test', 'checks.yaml'), /\n1 check passed/, 'of the lab that is open');
  await labwired.fails(
    1,
    /Lab "Checked" has no stored checks: .*labwired test FILE --lab Checked --keep/,
    'test',
    'Checked',
  );
  await labwired.fails(1, /There is no file "Chekced"\. .*"Chekced"/, 'test', 'Chekced');
  alone(one.replace('node: PC1', 'node: PC8'));
  await labwired.fails(
    1,
    /checks\.yaml:2:5: checks\.0: there is no node "PC8"; did you mean "PC1"\?/,
    'test',
    'checks.yaml',
  );
  alone(one.replace('console:', 'consle:'));
  await labwired.fails(1, /checks\.yaml:2:5: checks\.0\.consle: .*did you mean "console"\?/, 'test', 'checks.yaml');
  await labwired.run('test', 'lab.yaml', '--keep');
  const kept = JSON.parse((await labwired.run('test', 'Checked', '--json')).out) as Reported;
  assert.deepEqual(
    kept.checks.map(({ name, passed }) => [name, passed]),
    checks.map(({ name, passed }) => [name, passed]),
    'those of the file, without the file',
  );
  const text = await labwired.say('export', 'Checked', '--yaml');
  const written = readFileSync(join(daemon.directory, 'lab.yaml'), 'utf8');
  assert.deepEqual(parse(text).checks, parse(written).checks, 'the text has them, too');
});

/** The cases of a JUnit report, read by a parser of XML that takes nothing wrong. */
function casesIn(file: string): { name: string; failure: string | undefined }[] {
  const cases: { name: string; failure: string | undefined }[] = [];
  const parser = new SaxesParser();
  parser.on('error', (error) => assert.fail(error));
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'testcase') cases.push({ name: attributes['name'] as string, failure: undefined });
    if (name === 'failure') cases.at(-1)!.failure = attributes['message'] as string;
    if (name === 'testsuite') {
      assert.deepEqual(Object.keys(attributes).sort(), [
        ...['errors', 'failures', 'name', 'skipped', 'tests', 'time', 'timestamp'],
      ]);
    }
  });
  parser.write(readFileSync(file, 'utf8')).close();
  return cases;
}

test('the example of the document passes with the program vpcs, which has its own words for the answers to a ping', {
  skip: missing('vpcs'),
}, async (t) => {
  const labwired = new Client(await startDaemon(t, { config: '[VPCS]\nengine = vpcs\n' }));
  const [, example] = /```yaml\n([\s\S]*?)```/.exec(
    readFileSync(join(import.meta.dirname, '../../docs/lab-tests.md'), 'utf8'),
  )!;
  const file = join(labwired.daemon.directory, 'lab.yaml');
  writeFileSync(
    file,
    `${example}  - {name: no address, ping: {from: R1, to: 10.0.0.9, count: 1, timeout: 1}}
  - {name: no gateway, ping: {from: R1, to: 192.0.2.1, count: 1, timeout: 1}}
  - {name: no server, console: {node: R2, send: dhcp, expect: "find dhcp server"}}
  - {name: trace, console: {node: R1, send: trace 10.0.0.2, expect: {regex: '1 +\\*?10\\.0\\.0\\.2'}}}
`,
  );
  await labwired.say('apply', 'lab.yaml');
  await labwired.say('lab', 'start', 'lab.yaml');
  const { code, out, error } = await labwired.run('test', '--json');
  const { checks } = JSON.parse(out) as Reported;
  const failed = checks.filter(({ passed }) => !passed).map(({ name, seen }) => `${name}: ${seen}`);
  assert.equal(code, 1, error);
  assert.deepEqual(failed, [
    'no address: 0 of 1 answered: host (10.0.0.9) not reachable',
    'no gateway: 0 of 1 answered: No gateway found',
  ]);
  assert.match(checks.find(({ kind, passed }) => kind === 'ping' && passed)!.seen, /^5 of 5 answered, [\d.]+ ms/);
});

test('a check is looked at again until it passes, and Ctrl+C leaves no capture behind', async (t) => {
  const { labwired, lab, daemon, write } = await scene(
    t,
    2,
    'checks:\n  - ping: {from: PC1, to: 10.0.0.2, timeout: 60}\n',
  );
  await labwired.fails(1, /There is no lab "x"/, 'test', '--lab', 'x');
  mkdirSync(join(daemon.directory, 'Checked'));
  await labwired.fails(1, /^labwired: Lab "Checked" has no stored checks/, 'test', 'Checked');
  await daemon.post(`${lab.path}/close`);
  await labwired.fails(1, /Lab "Checked" is closed: labwired lab start lab\.yaml/, 'test');
  await labwired.say('lab', 'duplicate', 'Checked', "Ann's copy");
  const fix = "labwired lab start 'Ann'\\''s copy'";
  const { error } = await labwired.run('test', '--lab', "Ann's copy");
  assert.equal(error, `labwired: Lab "Ann's copy" is closed: ${fix}\n`, 'not the file, which starts another lab');
  await daemon.post(`${lab.path}/open`);
  await labwired.say('node', 'start', 'PC1');
  const [link] = await lab.links();
  const sent = async (): Promise<number> => {
    const { forward, backward } = await daemon.get(`${lab.path}/links/${link!.link_id}/statistics`);
    return forward.offered.frames + backward.offered.frames;
  };
  const before = await sent();
  await labwired.run('node', 'exec', 'PC1', 'ping 10.0.0.2 -c 3');
  const ofOneLook = (await sent()) - before;
  const atFirst = await sent();
  const late = labwired.run('test', '--json');
  // More frames than one look sends: a first one has found nobody.
  await eventually('a second look', async () => (await sent()) - atFirst > ofOneLook, undefined, 60_000);
  await labwired.say('node', 'start', 'PC2');
  const { checks } = JSON.parse((await late).out) as Reported;
  assert.equal(checks[0]!.passed, true);
  assert.ok(checks[0]!.looks > 1);

  write(
    'checks:\n  - frame: {link: PC1, filter: tcp, timeout: 600}\n  - ping: {from: PC1, to: 10.0.0.9, timeout: 600}\n',
  );
  const waiting = labwired.spawn(['test']);
  const isCaptured = async (): Promise<boolean> =>
    ((await daemon.get(`${lab.path}/links`)) as { capturing: boolean }[]).some(({ capturing }) => capturing);
  await eventually('the capture', isCaptured);
  waiting.kill('SIGINT');
  assert.deepEqual(await once(waiting, 'close'), [130, null]);
  assert.equal(await isCaptured(), false);
  assert.match(await labwired.say('node', 'exec', 'PC1', 'show version'), /version/i, 'the ping has ended with it');
  write('');
  await labwired.fails(2, /has no checks/, 'test');
});

test('nodes start in the order of the file, each when those before it are ready', async (t) => {
  const { labwired, lab, daemon, write } = await scene(t, 3, '');
  const started = (): Promise<string[]> =>
    daemon.get(`${lab.path}/nodes`).then((nodes: { name: string; status: string; node_type: string }[]) =>
      nodes
        .filter(({ status, node_type: type }) => status === 'started' && type === 'vpcs')
        .map(({ name }) => name)
        .sort(),
    );
  write('', [
    `  PC1: {type: vpcs, start: {ready: {console: VPCS>}}}`,
    `  PC2: {type: vpcs, start: {after: [PC1], ready: {ping: {from: PC2, to: 10.0.0.3}, timeout: 3}}}`,
    `  PC3: {type: vpcs, start: {after: [PC2]}}`,
  ]);
  await labwired.fails(
    1,
    /Not all nodes are ready\. "PC2": it is not ready after \d+ s: 0 of 3 answered.*; "PC3": it is not started, because "PC2" is not ready/,
    ...['lab', 'start', 'lab.yaml', '--quiet'],
  );
  assert.deepEqual(await started(), ['PC1', 'PC2']);

  write('', [
    `  PC1: {type: vpcs, start: {order: 2, ready: {send: show ip, console: 10.0.0.1/24}}}`,
    `  PC2: {type: vpcs, start: {ready: {ping: {from: PC2, to: 10.0.0.3}, timeout: 60}}}`,
    `  PC3: {type: vpcs}`,
  ]);
  await daemon.post(`${lab.path}/close`);
  const { code, error } = await labwired.run('lab', 'start', 'lab.yaml');
  assert.equal(code, 0, error);
  assert.deepEqual(await started(), ['PC1', 'PC2', 'PC3']);
  const [two, one] = [error.indexOf('"PC2" is ready, after'), error.indexOf('"PC1" is started')];
  assert.ok(two !== -1 && one > two, `the higher order begins when the lower one is ready: ${error}`);
  write('', [
    `  PC1: {type: vpcs, start: {after: [PC2]}}`,
    `  PC2: {type: vpcs, start: {order: 5}}`,
    `  PC3: {type: vpcs}`,
  ]);
  await labwired.fails(1, /"PC1", "PC2" wait for each other/, 'lab', 'start', 'lab.yaml');
});
