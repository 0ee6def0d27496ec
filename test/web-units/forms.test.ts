// Forms without a page: fields of a schema, what is typed, what is sent, what becomes of a refusal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormModel } from '../../src/web/forms/model.ts';
import { placed } from '../../src/web/forms/refusal.ts';
import { type Field, fieldsOf, type JsonSchema } from '../../src/web/forms/schema.ts';
import {
  draftOf,
  draftPaths,
  draftWritten,
  dropDrafts,
  followNodes,
  isUnsaved,
  keepDraft,
} from '../../src/web/model/lab/file-drafts.ts';
import { History } from '../../src/web/model/lab/undo.ts';
import type { NodeObject } from '../../src/web/model/server/types.ts';
import { ImpairmentForm } from '../../src/web/panels/inspector/link/impairment-form.ts';
import { ScheduleDraft } from '../../src/web/panels/inspector/link/schedule-draft.ts';
import {
  bodyOf,
  commonFields,
  commonValues,
  generalFields,
  ownFields,
  valuesOf,
  withResult,
} from '../../src/web/panels/inspector/node/changes.ts';
import { templateFields } from '../../src/web/templates/template-fields.ts';
import { LabServer } from '../controller/lab-server.ts';

const PROBLEMS = {
  needed: 'needed',
  integer: 'integer',
  number: 'number',
  pattern: 'pattern',
  range: (lowest: number | undefined, highest: number | undefined) => `${lowest} to ${highest}`,
};

const SCHEMA: JsonSchema = {
  properties: {
    image: { type: 'string', minLength: 1, 'x-order': 2 },
    ram: {
      anyOf: [{ type: 'integer', minimum: 1, maximum: 4096 }, { type: 'null' }],
      title: 'Memory',
      'x-unit': 'MiB',
    },
    uefi: { type: 'boolean' },
    mac: { type: 'string', pattern: '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' },
    kind: { enum: ['telnet', 'none'], default: 'telnet' },
    name: { type: 'string', minLength: 1, 'x-order': 1 },
    ports: {
      type: 'array',
      items: {
        oneOf: [
          {
            properties: {
              name: { type: 'string', minLength: 1 },
              type: { const: 'tap' },
              interface: { type: 'string', minLength: 1 },
            },
            required: ['name', 'type', 'interface'],
          },
          {
            properties: {
              name: { type: 'string', minLength: 1 },
              type: { const: 'udp' },
              lport: { type: 'integer', minimum: 1 },
            },
            required: ['name', 'type', 'lport'],
          },
        ],
      },
    },
  },
  required: ['name', 'image'],
};

function form(base: Record<string, unknown> = {}, whole = false): { model: FormModel; field: (name: string) => Field } {
  const fields = fieldsOf(SCHEMA);
  const model = new FormModel({ fields, base, words: PROBLEMS, whole });
  return { model, field: (name) => fields.find((field) => field.name === name)! };
}

test('a schema becomes fields in its order, with kinds, bounds, units and what may be left out', () => {
  const fields = fieldsOf(SCHEMA);
  assert.deepEqual(
    fields.map(({ name, kind }) => `${name} ${kind}`),
    ['name text', 'image text', 'ram integer', 'uefi flag', 'mac text', 'kind choice', 'ports list'],
  );
  const ram = fields[2]!;
  assert.deepEqual([ram.label, ram.unit, ram.nullable, ram.lowest, ram.highest], ['Memory', 'MiB', true, 1, 4096]);
  const row = fields[6]!.fields;
  assert.deepEqual(row.find(({ name }) => name === 'type')?.choices, ['tap', 'udp']);
  assert.deepEqual(row.find(({ name }) => name === 'lport')?.onlyWith, { field: 'type', values: ['udp'] });
});

test('only what was changed is sent, and going back is no change', async () => {
  const { model, field } = form({ name: 'PC1', image: 'a.img', ram: 64, uefi: false });
  model.type(field('ram'), '128');
  model.type(field('name'), 'PC2');
  model.type(field('name'), 'PC1');
  model.type(field('uefi'), true);
  assert.equal(model.changed.value, 2);
  let sent: unknown;
  const done = await model.save(async (changes) => {
    sent = changes;
    return { ...model.base.value, ...changes };
  });
  assert.equal(done, true);
  assert.deepEqual(sent, { ram: 128, uefi: true });
  assert.equal(model.changed.value, 0);
  assert.equal(model.shown(field('ram')), '128');
});

test('what does not fit is marked at its field, also in a row, and nothing is sent', async () => {
  const { model, field } = form({ name: 'PC1', image: 'a.img' });
  for (const [name, typed] of Object.entries({ ram: '9999', mac: 'zz', image: '' })) model.type(field(name), typed);
  model.type(field('ports'), [{ name: '', type: 'udp', lport: 'x', interface: 'left from before' }]);
  assert.equal(await model.save(() => assert.fail('sent')), false);
  assert.deepEqual(model.problems.value, {
    image: 'needed',
    ram: '1 to 4096',
    mac: 'pattern',
    'ports.0.name': 'needed',
    'ports.0.lport': 'integer',
  });
  model.type(field('ports'), [{ name: 'e0', type: 'udp', lport: '7', interface: 'left from before' }]);
  assert.deepEqual(Object.keys(model.problems.value), ['image', 'ram', 'mac']);
  model.type(field('image'), 'b.img');
  model.type(field('ram'), '');
  model.type(field('mac'), '00:00:00:00:00:01');
  assert.deepEqual(model.changes(), {
    image: 'b.img',
    mac: '00:00:00:00:00:01',
    ports: [{ name: 'e0', type: 'udp', lport: 7 }],
  });
});

test('what was typed stays after a refusal, whose reasons stand at the fields that they name', async () => {
  const refusals = [
    'Invalid request: ram: expected >=1, received 0; ports.1.lport: is required (number)',
    'ram: this host has 1024 MiB; take less',
    'The server does not answer.',
    'Too many wrong passwords; try again in 4 s.',
  ];
  const found = [];
  for (const message of refusals) {
    const { model, field } = form({ name: 'PC1', image: 'a.img', ram: 64 });
    model.type(field('ram'), '128');
    assert.equal(
      await model.save(async () => {
        throw new Error(message);
      }),
      false,
    );
    assert.equal(model.shown(field('ram')), '128');
    assert.equal(model.isBusy.value, false);
    found.push([model.problems.value, model.message.value]);
  }
  assert.deepEqual(found, [
    [{ ram: 'expected >=1, received 0', 'ports.1.lport': 'is required (number)' }, ''],
    [{ ram: 'this host has 1024 MiB; take less' }, ''],
    [{}, 'The server does not answer.'],
    [{}, 'Too many wrong passwords; try again in 4 s.'],
  ]);
  assert.deepEqual(placed('Invalid request: properties.ram: no; node_type: is wrong', ['ram']), {
    problems: { ram: 'no' },
    rest: 'node_type: is wrong',
  });
});

test('a change of another user appears, and is marked in a field that is being edited', () => {
  const { model, field } = form({ name: 'PC1', image: 'a.img', ram: 64 });
  model.type(field('ram'), '128');
  model.follow({ name: 'R1', image: 'a.img', ram: 256 });
  assert.equal(model.shown(field('name')), 'R1');
  assert.equal(model.shown(field('ram')), '128');
  assert.deepEqual(model.foreign.value, { ram: 256 });
  model.takeForeign(field('ram'));
  assert.equal(model.shown(field('ram')), '256');
  assert.deepEqual([model.foreign.value, model.changed.value], [{}, 0]);
  model.type(field('ram'), '512');
  model.follow({ name: 'R1', image: 'a.img', ram: 512 });
  assert.deepEqual([model.foreign.value, model.changed.value], [{}, 0]);
});

/** Saves 128 MiB of 64, while this is typed. */
async function savedBeside(name: string, typed: string) {
  const { model, field } = form({ name: 'PC1', image: 'a.img', ram: 64 });
  model.type(field('ram'), '128');
  await model.save(async (changes) => {
    model.type(field(name), typed);
    return { ...model.base.value, ...changes };
  });
  return { model, field };
}

test('what is typed while the server is busy stays to be sent', async () => {
  const { model } = await savedBeside('name', 'PC9');
  assert.deepEqual(model.typed.value, { name: 'PC9' });
});

test('what is typed while the server is busy stays, also if it is the former value again', async () => {
  const { model, field } = await savedBeside('ram', '64');
  assert.deepEqual([model.typed.value, model.shown(field('ram'))], [{ ram: '64' }, '64']);
  await model.save(async (changes) => {
    // The event of the change comes before the answer, and the input is the same again.
    model.follow({ ...model.base.value, ...changes });
    model.type(field('ram'), '7');
    model.type(field('ram'), '64');
    return { ...model.base.value, ...changes };
  });
  assert.deepEqual([model.typed.value, model.shown(field('ram'))], [{}, '64']);
});

test('an emptied field that needs a value is marked, and one with a default goes back to it', async () => {
  const fields = fieldsOf({
    properties: {
      ram: { type: 'integer', minimum: 1 },
      port: { type: 'integer', minimum: 1, default: 80 },
      cpus: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], 'x-default': 1 },
      console: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
      mtu: { type: 'integer', 'x-absent': true, 'x-default': 1500 },
      width: { type: 'integer' },
    },
  });
  const base = { ram: 64, port: 8080, cpus: 2, console: 5000 };
  const model = new FormModel({ fields, base, words: PROBLEMS });
  const [ram, , cpus, , mtu] = fields;
  assert.equal(model.shown(mtu!), '1500', 'a node without the member has the default');
  for (const field of fields) model.type(field, '');
  assert.deepEqual([model.changes(), model.problems.value], [undefined, { ram: 'needed', cpus: 'needed' }]);
  model.type(ram!, '64');
  model.type(cpus!, '4');
  assert.deepEqual(model.changes(), { port: 80, cpus: 4, console: null, mtu: 1500 });
});

test('something new is sent with its defaults, and not without what it needs', () => {
  const { model, field } = form({}, true);
  assert.equal(model.changes(), undefined);
  assert.deepEqual(Object.keys(model.problems.value), ['name', 'image']);
  model.type(field('name'), 'T');
  model.type(field('image'), 'a.img');
  assert.deepEqual(model.changes(), { name: 'T', image: 'a.img', ram: null, uefi: false, kind: 'telnet', ports: [] });
});

test('the document of a server gives every type of node and template a form, each field with a label', async (t) => {
  const server = await LabServer.start(t);
  const { paths } = await server.expect(200, 'GET', '/v2/openapi.json');
  const body = (method: string, path: string): JsonSchema =>
    paths[path][method].requestBody.content['application/json'].schema;
  const members = fieldsOf(body('put', '/v2/projects/{project_id}/nodes/{node_id}'));
  const types: string[] = (await server.expect(200, 'GET', '/v2/computes'))[0].capabilities.node_types;
  const without: string[] = [];
  const see = (where: string, fields: readonly Field[]): void => {
    for (const { name, label, kind, fields: inner } of fields) {
      if (kind === 'other' && !['mappings', 'label', 'properties'].includes(name))
        without.push(`${where} ${name} has no kind`);
      if (label === name.replaceAll('_', ' ') && name.includes('_')) without.push(`${where} ${name} has no title`);
      see(`${where} ${name}`, inner);
    }
  };
  const settings = new Map<string, Field[]>();
  for (const type of types) {
    const fields = fieldsOf(body('put', `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}`));
    settings.set(type, fields);
    see(type, fields);
    const general = generalFields(members, fields, true);
    const unfolded = general.filter(({ group }) => group === '').map(({ name }) => name);
    const notes = fields.some(({ name }) => name === 'usage') ? ['usage'] : [];
    assert.deepEqual(unfolded, ['name', ...notes], type);
    assert.ok(
      general.some(({ name }) => name === 'start_order'),
      type,
    );
    const always = generalFields(members, fields, false).map(({ name }) => name);
    assert.ok(!always.includes('start_order') && always.includes('locked'), type);
  }
  for (const schema of body('post', '/v2/templates').anyOf ?? []) {
    see(`template ${String(schema.properties?.['template_type']?.const)}`, fieldsOf(schema));
  }
  assert.deepEqual(without, [], 'give them words in src/api/kinds');
  const emptied = (type: string, base: Record<string, unknown>): unknown => {
    const own = ownFields(members, settings.get(type)!, { node_type: type, properties: base } as unknown as NodeObject);
    const model = new FormModel({ fields: own, base, words: PROBLEMS });
    for (const field of own) if (field.name in base) model.type(field, '');
    return [model.changes() ?? {}, model.problems.value];
  };
  assert.deepEqual(emptied('dynamips', { ram: 256 }), [{}, { ram: 'needed' }]);
  assert.deepEqual(emptied('docker', { console_http_port: 80 }), [{}, { console_http_port: 'needed' }]);
  assert.deepEqual(emptied('docker', { start_command: 'sh' }), [{ start_command: '' }, {}]);
  assert.deepEqual(emptied('qemu', { ram: 256, cpus: 2 }), [{}, { ram: 'needed', cpus: 'needed' }]);
  assert.deepEqual(emptied('qemu', { mtu: 9000 }), [{ mtu: 1500 }, {}]);
  const qemu = settings.get('qemu')!;
  assert.equal(qemu.find(({ name }) => name === 'ram')?.unit, 'MiB');
  assert.equal(qemu.find(({ name }) => name === 'cdrom_image')?.effect, undefined);
  assert.equal(qemu.find(({ name }) => name === 'cpus')?.effect, 'start');
  assert.equal(qemu.find(({ name }) => name === 'console_type')?.effect, 'stopped');
  assert.deepEqual(
    commonFields(members, [settings.get('vpcs')!, settings.get('ethernet_switch')!]).map(({ name }) => name),
    ['locked', 'start_order', 'start_delay', 'console_type'],
  );
  assert.deepEqual(bodyOf({ name: 'A', start_order: 2, ram: 64 }), {
    name: 'A',
    start_order: 2,
    properties: { ram: 64 },
  });
});

test('a flag that is on unless it is set can be turned off and on, and a new template leaves it out', async (t) => {
  const server = await LabServer.start(t);
  const { paths } = await server.expect(200, 'GET', '/v2/openapi.json');
  const body = (method: string, path: string): JsonSchema =>
    paths[path][method].requestBody.content['application/json'].schema;
  for (const [type, image] of [
    ['qemu', 'hda_disk_image'],
    ['docker', 'image'],
  ] as const) {
    const settings = fieldsOf(body('put', `/v2/compute/projects/{project_id}/${type}/nodes/{node_id}`));
    const templates = body('post', '/v2/templates').anyOf ?? [];
    const schema = templates.find(({ properties }) => properties?.['template_type']?.const === type)!;
    const kind = { type, platform: undefined, fields: fieldsOf(schema) };
    const fields = templateFields(kind, settings, ['local'], true);
    const named = (name: string, of = fields): Field => of.find((field) => field.name === name)!;
    const template = new FormModel({ fields, base: {}, words: PROBLEMS, whole: true });
    template.type(named('name'), 'T');
    template.type(named(image), 'an-image');
    const created = await server.expect(201, 'POST', '/v2/templates', { template_type: type, ...template.changes() });
    assert.deepEqual([created.offload, created.mtu, created[image]], [undefined, undefined, 'an-image']);
    template.type(named('offload'), false);
    assert.equal(template.changes()?.['offload'], false);
    const changeable = templateFields(kind, settings, ['local'], false).map(({ name }) => name);
    assert.deepEqual(
      ['platform', 'compute_id'].map((name) => changeable.includes(name)),
      [type === 'qemu', false],
    );

    const node = { node_type: type, properties: { adapters: 1 } } as unknown as NodeObject;
    const own = ownFields([], settings, node);
    const model = new FormModel({ fields: own, base: valuesOf(node), words: PROBLEMS });
    const [offload, mtu] = [named('offload', own), named('mtu', own)];
    assert.deepEqual([model.shown(offload), model.shown(mtu)], [true, '1500']);
    model.type(offload, false);
    assert.deepEqual(model.changes(), { offload: false });
    model.follow({ ...model.base.value, offload: false });
    model.type(offload, true);
    assert.deepEqual(model.changes(), { offload: true });
  }
});

test('a setting that differs between nodes is neither on nor off, and can be set to either for all', async () => {
  const fields = fieldsOf({
    properties: {
      tpm: { type: 'boolean' },
      offload: { type: 'boolean', 'x-absent': true, 'x-default': true },
      ram: { type: 'integer' },
      usage: { type: 'string' },
    },
  });
  const [tpm, offload, ram, usage] = fields as [Field, Field, Field, Field];
  const nodes = (...all: object[]) => all.map((properties) => ({ properties }) as NodeObject);
  const base = commonValues(
    nodes({ tpm: true, ram: 1, usage: 'A' }, { tpm: false, ram: 2, usage: 'B', offload: false }),
  );
  const model = new FormModel({ fields, base, words: PROBLEMS });
  assert.deepEqual(
    fields.map((field) => [model.isMixed(field), model.shown(field)]),
    [
      [true, false],
      [true, false],
      [true, ''],
      [true, ''],
    ],
  );
  for (const flag of [tpm, offload]) {
    model.type(flag, true);
    model.type(flag, false);
  }
  model.type(usage, 'C');
  model.type(usage, '');
  model.type(ram, '3');
  assert.deepEqual(model.changes(), { tpm: false, offload: false, ram: 3 }, 'an emptied text is not emptied in all');
  model.type(ram, '');
  assert.deepEqual(model.changes(), { tpm: false, offload: false });
  // Their events, and the undoing of it.
  await model.save(async (changes) => ({ ...model.base.value, ...changes }));
  model.follow(commonValues(nodes({ tpm: false, ram: 1 }, { tpm: false, ram: 1 })));
  assert.deepEqual([model.shown(tpm), model.shown(offload), model.shown(ram)], [false, true, '1']);
  model.type(tpm, true);
  assert.deepEqual(model.changes(), { tpm: true });
});

test('a change that some nodes refused is the own one for the others, also when their events come later', async () => {
  const fields = fieldsOf({ properties: { ram: { type: 'integer' }, cpus: { type: 'integer' } } });
  const nodes = [1, 1].map((cpus) => ({ properties: { ram: 1, cpus } }) as unknown as NodeObject);
  const model = new FormModel({ fields, base: commonValues(nodes), words: PROBLEMS });
  model.type(fields[0]!, '2');
  const results: PromiseSettledResult<Record<string, unknown>>[] = [
    { status: 'rejected', reason: new Error('locked') },
    { status: 'fulfilled', value: { properties: { ram: 2 } } },
  ];
  const now = nodes.map((node, at) => withResult(node, results[at]!));
  assert.deepEqual(
    now.map(({ properties }) => properties),
    [
      { ram: 1, cpus: 1 },
      { ram: 2, cpus: 1 },
    ],
  );
  await model.save(async () => {
    model.follow(commonValues(now));
    throw new Error('locked');
  });
  model.follow(commonValues(now));
  assert.deepEqual([model.foreign.value, model.typed.value, model.message.value], [{}, { ram: '2' }, 'locked']);
});

test('a draft ends when its text is written, also when its editor is gone, and with its lab', () => {
  const [notes, config] = ['/projects/one/notes', '/projects/one/nodes/pc/files/a.cfg'];
  keepDraft(notes, '', 'mine');
  draftWritten(notes, 'mine');
  assert.deepEqual(draftPaths(), []);
  draftWritten(notes, 'mine');
  assert.deepEqual(draftPaths(), [], 'a discarded one does not come back');
  keepDraft(notes, '', 'mine, and more');
  draftWritten(notes, 'mine');
  assert.deepEqual(draftOf(notes), { base: 'mine', text: 'mine, and more' });
  keepDraft(notes, '', '');
  keepDraft(config, '', 'hostname R1');
  assert.equal(isUnsaved(), true);
  followNodes('/projects/one', new Map());
  assert.deepEqual([isUnsaved(), draftOf(config)?.text], [false, 'hostname R1']);
  followNodes('/projects/one', new Map([['pc', {}]]));
  assert.equal(isUnsaved(), true);
  dropDrafts('/projects/on');
  assert.deepEqual(draftPaths(), [config]);
  dropDrafts('/projects/one');
  assert.deepEqual([isUnsaved(), draftPaths()], [false, []]);
});

const DELAY = {
  name: 'delay',
  fields: fieldsOf({ properties: { ms: { type: 'number' }, jitter: { type: 'number' } } }),
};

test('what is typed while impairments are applied stays to be applied', async (t) => {
  const { server, project } = await LabServer.withLab(t);
  const [a, b] = [await server.hub(project, 'A'), await server.hub(project, 'B')];
  const { link_id: id } = await server.link(project, [a, 0], [b, 0]);
  const call = async (method: string, path: string, body?: object) => {
    const { status, json } = await server.call(method, `/v2${path}`, body);
    if (status >= 400) throw new Error(json.message);
    return json;
  };
  const history = new History({
    requests: {
      get: (path) => call('GET', path),
      post: (path, body) => call('POST', path, body),
      put: (path, body) => call('PUT', path, body),
      delete: (path) => call('DELETE', path),
    },
    project: `/projects/${project.project_id}`,
    known: () => undefined,
  });
  const [ms, jitter] = DELAY.fields as [Field, Field];
  const impairments = new ImpairmentForm([DELAY], undefined);
  impairments.type('forward', 'delay', ms, '10');
  const first = impairments.apply(history, id);
  impairments.type('forward', 'delay', jitter, '3');
  assert.equal(await first, true);
  assert.deepEqual(impairments.typed.value, { 'forward.delay.jitter': '3', 'backward.delay.jitter': '3' });
  const second = impairments.apply(history, id);
  // The former value again.
  impairments.type('forward', 'delay', jitter, '');
  assert.equal(await second, true);
  assert.deepEqual([impairments.value('forward', 'delay', jitter), impairments.changes.value], ['', 1]);
  assert.equal(await impairments.apply(history, id), true);
  assert.equal(impairments.changes.value, 0);
  impairments.type('forward', 'delay', ms, '-5');
  const refused = impairments.apply(history, id);
  impairments.type('forward', 'delay', ms, '10');
  assert.equal(await refused, false);
  assert.equal(impairments.changes.value, 0, 'after a refusal the present value is no change');
  const { forward, backward } = (await server.expect(200, 'GET', `/v2/projects/${project.project_id}/links/${id}`))
    .impairments;
  assert.deepEqual([forward, backward], [{ delay: { ms: 10 } }, { delay: { ms: 10 } }]);
});

test('what is typed while a schedule starts is not replaced by that schedule, but by one of others if nothing was', () => {
  const draft = new ScheduleDraft([DELAY], []);
  const [step] = draft.steps.value;
  const sent = draft.body.value;
  const ours = { state: 'running' as const, steps: [{ at: 5, for: 5, forward: {}, backward: {} }], rounds: 1 };
  step!.at.value = '7';
  draft.accepted(sent);
  // A poll sees it before the start has read it.
  draft.see(ours);
  draft.see(ours, true);
  assert.deepEqual([draft.steps.value[0]?.at.value, draft.isOther.value], ['7', false]);
  const theirs = { ...ours, steps: [{ at: 1, for: 2, forward: {}, backward: {} }] };
  draft.see(theirs);
  assert.deepEqual([draft.steps.value[0]?.at.value, draft.isOther.value], ['7', true]);
  draft.accepted();
  draft.see(ours);
  assert.deepEqual([draft.steps.value[0]?.at.value, draft.isOther.value], ['5', false]);
});
