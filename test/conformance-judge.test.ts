// How a run of the conformance scenarios is judged: nobody may lose a scenario without it being said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, type Played } from './conformance/judge.ts';

function played(name: string, state: Played['state'], more: Partial<Played> = {}): Played {
  return { area: 'link', name, state, ms: 1200, steps: [], ...more };
}

const complete = { vpcs: 'version 0.5b2', complete: true };

test('a scenario that fails or is skipped without being expected to is a failure, with what came instead', () => {
  const diffs = [{ path: 'status', expected: '201', got: '409 no' }];
  const steps = [{ id: '01', what: 'POST /v2/x', state: 'failed', diffs }];
  const verdict = judge(
    [played('good', 'passed'), played('bad', 'failed', { steps }), played('away', 'skipped', { why: 'needs qemu' })],
    {},
    complete,
  );
  assert.deepEqual(verdict, {
    lines: [
      'FAILED link/away: skipped, since it needs qemu',
      'FAILED link/bad',
      '       step 01: POST /v2/x',
      '         status: expected 201, got 409 no',
      'ok     link/good (1.2 s)',
    ],
    passed: 1,
    failed: 2,
    skipped: 0,
  });
});

test('an expected gap is skipped with its reason; one that passes or is about nothing is a failure', () => {
  const gaps = { 'link/bad': 'not built yet', 'link/good': 'not built yet', 'link/gone': 'not built yet' };
  const verdict = judge([played('bad', 'failed'), played('good', 'passed')], gaps, complete);
  assert.deepEqual(verdict, {
    lines: [
      'gap    link/bad: not built yet',
      'FAILED link/good: it passes now; remove it from expected-gaps.json',
      'FAILED link/gone: there is no such scenario; remove it from expected-gaps.json',
    ],
    passed: 0,
    failed: 2,
    skipped: 1,
  });
});

test('a gap of one vpcs version is none with another', () => {
  const gaps = { 'link/ping': { reason: 'other wording', vpcs: '0.5' } };
  assert.equal(judge([played('ping', 'failed')], gaps, complete).skipped, 1);
  assert.equal(judge([played('ping', 'failed')], gaps, { vpcs: 'version 0.8.2', complete: true }).failed, 1);
  assert.equal(judge([played('ping', 'passed')], gaps, { vpcs: 'version 0.8.2', complete: true }).passed, 1);
});
