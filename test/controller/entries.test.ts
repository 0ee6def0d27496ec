// Which entries of the access list grant what: a table, judged by the pure function alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILT_IN_ROLES, PRIVILEGES, type Privilege } from '../../src/api/privileges.ts';
import { isGranted, isWithinRole, mayChangeLab, type Rule } from '../../src/controller/accounts/entries.ts';

const [LAB, NODE, OTHER, POOL] = ['lab-1', 'node-1', 'lab-2', 'pool-1'];
const PLACES = {
  root: '/',
  labs: '/projects',
  lab: `/projects/${LAB}`,
  nodes: `/projects/${LAB}/nodes`,
  node: `/projects/${LAB}/nodes/${NODE}`,
  pool: `/pools/${POOL}`,
  'lab in pool': `/pools/${POOL}/resources/${LAB}`,
  'other lab in pool': `/pools/${POOL}/resources/${OTHER}`,
} as const;

/** `+User lab`: allows; `-User lab`: denies; `.` at the end: does not propagate. */
function ruleOf(text: string): Rule {
  const [, sign, role, place, end] = /^([+-])(.+?) @ (.+?)(\.?)$/.exec(text)!;
  return {
    path: PLACES[place as keyof typeof PLACES],
    propagate: end === '',
    allowed: sign === '+',
    privileges: new Set(BUILT_IN_ROLES[role!]!.privileges),
  };
}

interface Case {
  own?: string[];
  groups?: string[];
  pools?: string[];
  asks: Privilege;
  at: string;
  granted: boolean;
}

const A = 'Node.Audit';
const M = 'Node.Modify';
const { lab, node, nodes, labs } = PLACES;

const TABLE: Readonly<Record<string, Case>> = {
  'no entry': { asks: A, at: node, granted: false },
  'the path itself': { own: ['+User @ node'], asks: A, at: node, granted: true },
  'from the lab above': { own: ['+User @ lab'], asks: A, at: node, granted: true },
  'from all labs': { own: ['+User @ labs'], asks: A, at: node, granted: true },
  'from the root': { own: ['+User @ root'], asks: A, at: node, granted: true },
  'not upwards': { own: ['+User @ node'], asks: A, at: nodes, granted: false },
  'not sideways': { own: ['+User @ lab'], asks: 'Project.Audit', at: `/projects/${OTHER}`, granted: false },
  'not a path that begins alike': { own: ['+User @ lab'], asks: A, at: `${lab}2/nodes`, granted: false },
  'one lab is not all labs': { own: ['+User @ lab'], asks: 'Project.Allocate', at: labs, granted: false },
  'a privilege that the role has not': { own: ['+Auditor @ lab'], asks: M, at: node, granted: false },
  'No Access grants nothing': { own: ['+No Access @ node'], asks: A, at: node, granted: false },
  'No Access takes nothing': { own: ['+User @ lab', '-No Access @ node'], asks: A, at: node, granted: true },
  'a deeper refusal goes first': { own: ['+User @ lab', '-User @ node'], asks: A, at: node, granted: false },
  'a deeper permission goes first': { own: ['-User @ lab', '+User @ node'], asks: A, at: node, granted: true },
  'a refusal beside a permission': { own: ['+User @ node', '-User @ node'], asks: A, at: node, granted: false },
  'a refusal takes only what its role has': {
    own: ['+User @ lab', '-Auditor @ node'],
    asks: M,
    at: node,
    granted: true,
  },
  'a refusal takes what its role has': { own: ['+User @ lab', '-Auditor @ node'], asks: A, at: node, granted: false },
  'no propagation': { own: ['+User @ lab.'], asks: A, at: node, granted: false },
  'no propagation, at its own path': { own: ['+User @ lab.'], asks: 'Project.Audit', at: lab, granted: true },
  'without propagation the next one up': { own: ['+User @ lab.', '+User @ labs'], asks: A, at: node, granted: true },
  'of a group': { groups: ['+User @ lab'], asks: A, at: node, granted: true },
  'own refusal before the group': { own: ['-User @ lab'], groups: ['+User @ node'], asks: A, at: node, granted: false },
  'own permission before the group': {
    own: ['+User @ lab'],
    groups: ['-User @ node'],
    asks: A,
    at: node,
    granted: true,
  },
  'pooled: not from all labs': { own: ['+User @ labs'], pools: [POOL!], asks: A, at: node, granted: false },
  'pooled: not from the root': { own: ['+User @ root'], pools: [POOL!], asks: A, at: node, granted: false },
  'pooled: not from the lab': { own: ['+User @ lab'], pools: [POOL!], asks: A, at: node, granted: false },
  'pooled: from the pool': { own: ['+User @ pool'], pools: [POOL!], asks: A, at: node, granted: true },
  'pooled: by its place there': { own: ['+User @ lab in pool'], pools: [POOL!], asks: A, at: node, granted: true },
  'pooled: not by the place of another': {
    own: ['+User @ other lab in pool'],
    pools: [POOL!],
    asks: A,
    at: node,
    granted: false,
  },
  'pooled: a refusal is no permission': { own: ['-User @ pool'], pools: [POOL!], asks: A, at: node, granted: false },
  'pooled: a refusal goes before the group': {
    own: ['-User @ pool'],
    groups: ['+User @ pool'],
    pools: [POOL!],
    asks: A,
    at: node,
    granted: false,
  },
  'pooled: one of two pools': { own: ['+User @ pool'], pools: ['pool-2', POOL!], asks: A, at: node, granted: true },
  'pooled: another pool': { own: ['+User @ pool'], pools: ['pool-2'], asks: A, at: node, granted: false },
  'pooled: group': { groups: ['+Auditor @ pool'], pools: [POOL!], asks: A, at: node, granted: true },
  'the entry for a pool reaches no free lab': { own: ['+User @ pool'], asks: A, at: node, granted: false },
};

for (const [name, { own = [], groups = [], pools = [], asks, at, granted }] of Object.entries(TABLE)) {
  test(`entries: ${name}`, () => {
    const rules = { own: own.map(ruleOf), groups: groups.map(ruleOf) };
    assert.equal(
      isGranted(rules, asks, at, (id) => (id === LAB ? pools : [])),
      granted,
    );
  });
}

test('the built-in roles have as many privileges as in release 3.0.6', () => {
  const counts = Object.fromEntries(
    Object.entries(BUILT_IN_ROLES).map(([name, { privileges }]) => [name, new Set(privileges).size]),
  );
  assert.equal(PRIVILEGES.size, 45);
  assert.deepEqual(counts, {
    Administrator: 45,
    User: 24,
    Auditor: 10,
    'Template manager': 9,
    'User manager': 6,
    'ACL manager': 6,
    'No Access': 0,
  });
});

test('a token with a lesser role gets no more from entries than its role may do', () => {
  const within = (role: Parameters<typeof isWithinRole>[1]) =>
    [...PRIVILEGES.keys()].filter((one) => isWithinRole(one, role));
  assert.equal(within(null).length, 45);
  assert.deepEqual(within('none'), []);
  assert.ok(within('observer').every((one) => one.endsWith('.Audit')));
  assert.ok(within('user').includes('Node.Modify'));
  for (const one of ['User.Modify', 'ACE.Allocate', 'Image.Allocate', 'Pool.Modify'] as const)
    assert.ok(!within('user').includes(one), one);
});

test('a rule that may change a lab is found wherever it stands', () => {
  const may = (text: string, pools: string[] = []) => mayChangeLab(ruleOf(text), LAB!, pools);
  for (const text of ['+User @ root', '+User @ labs', '+User @ lab', '+User @ node', '+User @ node.'])
    assert.ok(may(text), text);
  for (const text of ['+Auditor @ root', '-User @ lab', '+Template manager @ root', '+User @ pool'])
    assert.ok(!may(text), text);
  assert.ok(may('+User @ pool', [POOL!]));
  assert.ok(may('+User @ lab in pool', [POOL!]));
  assert.ok(!may('+User @ lab', [POOL!]));
});
