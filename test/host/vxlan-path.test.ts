// Whether the path of a link by VXLAN works, as its probes show.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VxlanPath } from '../../src/host/network/vxlan-path.ts';

/** What is known before each probe: `.` nothing yet, `v` the path works, `u` it does not. @param answers `+` or `-` */
function judged(answers: string): string {
  const path = new VxlanPath();
  let answered = 0;
  return Array.from(answers, (answer) => {
    path.judge(answered);
    path.sent++;
    if (answer === '+') answered = path.sent;
    return path.works ? 'v' : path.fails ? 'u' : '.';
  }).join('');
}

test('a new path works from its first answer on, and fails after two seconds without one', () => {
  assert.equal(judged('--+-'), '...v');
  assert.equal(judged('-'.repeat(22)), `${'.'.repeat(20)}uu`);
});

test('a path fails after four unanswered probes in a row, not before', () => {
  assert.equal(judged('+---+---+'), '.vvvvvvvv');
  assert.equal(judged('+----+'), '.vvvvu');
});

test('a path that has failed works again after four answers in a row', () => {
  assert.equal(judged('+----+++-+++++'), '.vvvvuuuuuuuuv');
});

test('late answers are answers', () => {
  const path = new VxlanPath();
  for (let probe = 0; probe < 40; probe++) {
    path.judge(Math.max(0, path.sent - 3));
    path.sent++;
  }
  assert.ok(path.works);
});
