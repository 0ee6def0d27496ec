// The words of the demonstration.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameLines, requestLines, thingsToTry } from '../../src/client/demo/story.ts';
import { freeName } from '../../src/layout/demonstration.ts';
import { answerTo } from '../pc-console.ts';

const ID = '6a6d8a3f-5d7f-4a53-9a3c-1df5d3f4c0aa';

test('a request is reported as it is made, with short identifiers and no line that runs over the edge', () => {
  assert.deepEqual(requestLines('GET', '/v2/version'), ['GET /v2/version']);
  assert.deepEqual(requestLines('POST', `/v2/projects/${ID}/nodes`, { name: 'PC1', x: -1 }), [
    'POST /v2/projects/6a6d8a3f…/nodes {"name":"PC1","x":-1}',
  ]);
  const nodes = Array.from({ length: 3 }, () => ({ node_id: ID, adapter_number: 0, port_number: 0 }));
  const lines = requestLines('POST', `/v2/projects/${ID}/links`, { nodes });
  assert.ok(lines.every((line) => line.length <= 115));
  assert.ok(lines.length > 1);
  assert.equal(
    lines.map((line) => line.trim()).join(''),
    `POST /v2/projects/${ID}/links ${JSON.stringify({ nodes })}`.replaceAll(ID, '6a6d8a3f…'),
  );
});

test('frames are reported with the time since the first', () => {
  const bytes = Buffer.alloc(3);
  const lines = frameLines([
    { time: 5_000_000, bytes },
    { time: 6_001_200, bytes },
  ]);
  assert.deepEqual(lines, [
    '      0.0 ms  3 bytes, too short for Ethernet',
    '   1001.2 ms  3 bytes, too short for Ethernet',
  ]);
  assert.deepEqual(frameLines([]), ['No frame was seen.']);
});

test('a lab of an earlier demonstration is not in the way of the next', () => {
  const first = freeName([]);
  assert.equal(freeName([first]), `${first} 2`);
  assert.equal(freeName([first, `${first} 2`, `${first} 4`]), `${first} 3`);
});

test('the answer to a command is what stands between its echo and the next prompt', () => {
  const output = '\r\n\rPC1> ping 10.0.0.2 -c 1\r\n\r\n10.0.0.2 icmp_seq=1 ttl=64\r\n\r\n\rPC1> ';
  assert.deepEqual(answerTo('ping 10.0.0.2 -c 1', output), ['10.0.0.2 icmp_seq=1 ttl=64']);
  assert.deepEqual(answerTo('save', 'save\r\n.  done\r\n\rVPCS> '), ['.  done']);
  assert.equal(answerTo('save', '\r\n\rPC1> '), undefined, 'an older prompt is no answer');
  assert.equal(answerTo('save', '\r\n\rPC1> save\r\n.'), undefined, 'the answer is not complete');
});

test('the last words name the running lab, its console and where a client finds it', () => {
  const what = { lab: { id: ID, name: 'Lab' }, pc: { name: 'PC1', consoleHost: '192.0.2.1', consolePort: 5000 } };
  const open = thingsToTry({ ...what, server: { address: 'http://192.0.2.1:3080', user: undefined } });
  assert.match(open, /telnet 192\.0\.2\.1 5000/);
  assert.match(open, new RegExp(`curl -N http://192\\.0\\.2\\.1:3080/v2/projects/${ID}/notifications`));
  assert.match(open, /host 192\.0\.2\.1 and port 3080/);
  const closed = thingsToTry({ ...what, server: { address: 'https://[2001:db8::1]', user: 'ann' } });
  assert.match(closed, /curl -u 'ann' -N https:\/\/\[2001:db8::1\]\/v2/);
  assert.match(closed, /host \[2001:db8::1\] and port 443/);
});
