// The privileges and built-in roles of release 3.0.6, which entries of the access list grant.

const AREAS = {
  User: { of: 'users', verbs: ['Allocate', 'Audit', 'Modify'] },
  Group: { of: 'groups', verbs: ['Allocate', 'Audit', 'Modify'] },
  Role: { of: 'roles', verbs: ['Allocate', 'Audit', 'Modify'] },
  ACE: { of: 'entries of the access list', verbs: ['Allocate', 'Audit', 'Modify'] },
  Pool: { of: 'pools', verbs: ['Allocate', 'Audit', 'Modify'] },
  Template: { of: 'templates', verbs: ['Allocate', 'Audit', 'Modify'] },
  Project: { of: 'labs', verbs: ['Allocate', 'Audit', 'Modify'] },
  Compute: { of: 'computes', verbs: ['Allocate', 'Audit', 'Modify'] },
  Drawing: { of: 'drawings', verbs: ['Allocate', 'Audit', 'Modify'] },
  Node: { of: 'nodes', verbs: ['Allocate', 'Audit', 'Modify', 'Console', 'PowerMgmt'] },
  Link: { of: 'links', verbs: ['Allocate', 'Audit', 'Modify', 'Capture'] },
  Snapshot: { of: 'snapshots', verbs: ['Allocate', 'Audit', 'Restore'] },
  Symbol: { of: 'symbols', verbs: ['Allocate', 'Audit'] },
  Image: { of: 'images', verbs: ['Allocate', 'Audit'] },
  Appliance: { of: 'appliances', verbs: ['Allocate', 'Audit'] },
} as const;

type Areas = typeof AREAS;
export type Area = keyof Areas;
export type Privilege = { [A in Area]: `${A}.${Areas[A]['verbs'][number]}` }[Area];

const VERBS: Readonly<Record<string, string>> = {
  Allocate: 'Make and delete',
  Audit: 'See',
  Modify: 'Change',
  Console: 'Use the consoles of',
  PowerMgmt: 'Start and stop',
  Capture: 'Capture on',
  Restore: 'Restore',
};

/** All privileges with their descriptions, by name. */
export const PRIVILEGES: ReadonlyMap<Privilege, string> = new Map(
  Object.entries(AREAS)
    .flatMap(([area, { of, verbs }]) =>
      verbs.map((verb) => [`${area}.${verb}` as Privilege, `${VERBS[verb]} ${of}`] as const),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1)),
);

export const areaOf = (privilege: Privilege): Area => privilege.slice(0, privilege.indexOf('.')) as Area;
export const isAudit = (privilege: Privilege): boolean => privilege.endsWith('.Audit');

/** What labs are made of. */
export const LAB_AREAS: readonly Area[] = ['Project', 'Node', 'Link', 'Drawing', 'Snapshot'];

function all(...areas: Area[]): Privilege[] {
  return [...PRIVILEGES.keys()].filter((one) => areas.includes(areaOf(one)));
}

function audits(...areas: Area[]): Privilege[] {
  return all(...areas).filter(isAudit);
}

/** The names of the built-in roles with what they hold on a fresh server. */
export const BUILT_IN_ROLES: Readonly<Record<string, { description: string; privileges: readonly Privilege[] }>> = {
  Administrator: { description: 'All privileges', privileges: [...PRIVILEGES.keys()] },
  User: {
    description: 'Make labs and work in them',
    privileges: [...all(...LAB_AREAS, 'Appliance'), ...audits('Template', 'Symbol', 'Image', 'Compute')],
  },
  Auditor: {
    description: 'See labs and what they are made of',
    privileges: audits(...LAB_AREAS, 'Template', 'Symbol', 'Image', 'Compute', 'Appliance'),
  },
  'Template manager': {
    description: 'Manage templates, symbols, images and appliances',
    privileges: all('Template', 'Symbol', 'Image', 'Appliance'),
  },
  'User manager': { description: 'Manage users and groups', privileges: all('User', 'Group') },
  'ACL manager': { description: 'Manage roles and the access list', privileges: all('Role', 'ACE') },
  'No Access': { description: 'No privileges', privileges: [] },
};

export const BUILT_IN_GROUPS: readonly string[] = ['Administrators', 'Users'];
