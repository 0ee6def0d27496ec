// Forms without a page: fields of a schema, what is typed, what is sent, what becomes of a refusal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FormModel } from '../../src/web/forms/model.ts';
import { placed } from '../../src/web/forms/refusal.ts';
import { type Field, fieldsOf, type JsonSchema } from '../../src/web/forms/schema.ts';
import { bodyOf, commonFields, generalFields } from '../../src/web/panels/inspector/node/changes.ts';
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

test('what is typed while the server is busy stays to be sent', async () => {
  const { model, field } = form({ name: 'PC1', image: 'a.img', ram: 64 });
  model.type(field('ram'), '128');
  await model.save(async (changes) => {
    model.type(field('name'), 'PC9');
    return { ...model.base.value, ...changes };
  });
  assert.deepEqual(model.typed.value, { name: 'PC9' });
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
