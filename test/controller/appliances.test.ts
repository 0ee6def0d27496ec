// The catalogue of appliances, the images that make them complete, and the templates that are made of them.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import * as v from 'valibot';
import { EMULATORS } from '../../src/api/routes/appliances.ts';
import { TemplateCreate } from '../../src/api/routes/templates.ts';
import { optionWords } from '../../src/compute/emulators/qemu/options.ts';
import { Appliances } from '../../src/controller/appliances/appliances.ts';
import { matchesOf, type PresentImages } from '../../src/controller/appliances/matching.ts';
import { templateOf } from '../../src/controller/appliances/template.ts';
import { typeSchema } from '../../src/controller/templates/type-schemas.ts';
import { LabServer } from './lab-server.ts';

const BOX = {
  name: 'Our Box',
  category: 'firewall',
  vendor_name: 'Us',
  product_name: 'Box',
  registry_version: 4,
  status: 'stable',
  symbol: 'our-box.svg',
  first_port_name: 'mgmt',
  port_name_format: 'ge{0}',
  qemu: {
    adapter_type: 'virtio-net-pci',
    adapters: 3,
    ram: 64,
    arch: 'x86_64',
    console_type: 'telnet',
    hda_disk_interface: 'virtio',
    kvm: 'disable',
    options: '-nographic -cpu qemu64',
  },
  images: [
    { filename: 'box-2.img', version: '2', md5sum: hash('md5', 'version two'), filesize: 11 },
    { filename: 'box-1.img', version: '1', md5sum: hash('md5', 'version one').toUpperCase(), filesize: 11 },
    {
      filename: 'empty.img',
      version: '1',
      md5sum: hash('md5', 'empty disk'),
      filesize: 10,
      download_url: 'https://example.org/e',
    },
  ],
  versions: [
    { name: '2', images: { hda_disk_image: 'box-2.img', hdb_disk_image: 'empty.img' } },
    { name: '1', images: { hda_disk_image: 'box-1.img' } },
  ],
};

async function withBox(lab: LabServer, document: object = BOX): Promise<void> {
  await mkdir(join(lab.state, 'appliances'), { recursive: true });
  await writeFile(join(lab.state, 'appliances/box.gns3a'), JSON.stringify(document));
}

const KERNEL = `\x7fELF\x01 a kernel`;

async function upload(lab: LabServer, name: string, content: string): Promise<void> {
  const answer = await lab.request(`/v2/compute/qemu/images/${name}`, { method: 'POST', body: content });
  assert.equal(answer.status, 204, await answer.text());
}

test('the catalogue is listed by category, described, and with symbols that the server has', async (t) => {
  const lab = await LabServer.start(t);
  const list = await lab.expect(200, 'GET', '/v2/appliances');
  assert.equal(list.length, 218, 'all 219 but the one that is known to be broken');
  const categories = new Set(list.map(({ category }: { category: string }) => category));
  assert.deepEqual([...categories].sort(), ['firewall', 'guest', 'multilayer_switch', 'router']);
  const known = new Set(
    (await lab.expect(200, 'GET', '/v2/symbols')).map((entry: { symbol_id: string }) => entry.symbol_id),
  );
  for (const appliance of list) {
    assert.equal(appliance.builtin, true);
    assert.ok(!('appliance_id' in appliance));
    assert.match(appliance.description, /^A(?: router| multilayer switch| firewall| guest) .*\.$/, appliance.name);
    for (const member of ['name', 'vendor_name', 'product_name', 'maintainer', 'maintainer_email', 'usage']) {
      assert.equal(typeof appliance[member], 'string', `${appliance.name}: ${member}`);
    }
    assert.ok(known.has(appliance.symbol), `${appliance.name}: ${appliance.symbol}`);
  }
  const themed = await lab.expect(200, 'GET', '/v2/appliances?symbol_theme=Affinity-circle-blue');
  assert.ok(themed.every(({ symbol }: { symbol: string }) => symbol.startsWith(':/symbols/affinity/circle/blue/')));
  assert.match((await lab.expect(404, 'GET', '/v2/appliances?symbol_theme=Neon')).message, /Neon/);
  assert.match((await lab.expect(409, 'GET', '/v2/appliances?update=yes')).message, /Internet/);
});

test("the catalogue can be left out, and a folder of one's own has its symbols", async (t) => {
  const lab = await LabServer.start(t, { install_builtin_appliances: 'false' });
  await withBox(lab);
  await writeFile(join(lab.state, 'appliances/broken.gns3a'), JSON.stringify({ ...BOX, status: 'broken' }));
  await writeFile(join(lab.state, 'appliances/none.gns3a'), '{"vendor_name": "nobody"}');
  await writeFile(join(lab.state, 'appliances/torn.gns3a'), '{"name": ');
  const [only, ...more] = await lab.expect(200, 'GET', '/v2/appliances');
  assert.deepEqual(more, []);
  assert.equal(only.name, 'Our Box');
  assert.equal(only.builtin, false);
  assert.equal(only.symbol, ':/symbols/classic/firewall.svg', 'that of the category, as long as its own is not there');
  await writeFile(
    join(lab.state, 'symbols/our-box.svg'),
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
  );
  assert.equal((await lab.expect(200, 'GET', '/v2/appliances'))[0].symbol, 'our-box.svg');
});

test('a kernel that is an ELF program, and so in no list of images, is found', async (t) => {
  const lab = await LabServer.start(t);
  const images = [{ filename: 'kernel.elf', version: '1', md5sum: hash('md5', KERNEL), filesize: KERNEL.length }];
  await withBox(lab, { ...BOX, images, versions: [{ name: '1', images: { kernel_image: 'kernel.elf' } }] });
  await upload(lab, 'downloaded.elf', KERNEL);
  assert.deepEqual(await lab.expect(200, 'GET', '/v2/compute/qemu/images'), []);
  const [match] = await lab.expect(200, 'GET', '/v2/appliances/matches');
  assert.equal(match.complete, true);
  const template = await lab.expect(201, 'POST', `/v2/appliances/${match.appliance_id}/template`, {});
  assert.equal(template.kernel_image, 'downloaded.elf');
});

test('an image is known by its checksum, and one call makes the template, whatever the file is called', async (t) => {
  const lab = await LabServer.start(t);
  await withBox(lab);
  assert.deepEqual(await lab.expect(200, 'GET', '/v2/appliances/matches'), []);

  await upload(lab, 'what-i-downloaded.bin', 'version two');
  const [half, ...others] = await lab.expect(200, 'GET', '/v2/appliances/matches');
  assert.deepEqual(others, []);
  assert.equal(half.complete, false);
  assert.equal(half.version, '2');
  assert.deepEqual(
    half.images.map(({ setting, path }: { setting: string; path: string | null }) => [setting, path]),
    [
      ['hda_disk_image', 'what-i-downloaded.bin'],
      ['hdb_disk_image', null],
    ],
  );
  assert.deepEqual(await lab.expect(200, 'GET', '/v2/appliances/matches?complete=yes'), []);
  const make = `/v2/appliances/${half.appliance_id}/template`;
  const refused = await lab.expect(409, 'POST', make, { version: '2' });
  assert.match(
    refused.message,
    new RegExp(`empty\\.img \\(MD5 ${hash('md5', 'empty disk')}\\) from https://example.org/e`),
  );
  assert.equal(
    (await lab.expect(200, 'GET', '/v2/templates')).filter(({ builtin }: { builtin: boolean }) => !builtin).length,
    0,
  );

  // Dropped into the folder by hand.
  await writeFile(join(lab.state, 'images/QEMU/disk'), 'empty disk');
  const [whole] = await lab.expect(200, 'GET', '/v2/appliances/matches?complete=yes');
  assert.equal(whole.complete, true);
  const template = await lab.expect(201, 'POST', make, {});
  assert.deepEqual(
    {
      name: template.name,
      template_type: template.template_type,
      category: template.category,
      symbol: template.symbol,
      hda_disk_image: template.hda_disk_image,
      hdb_disk_image: template.hdb_disk_image,
      qemu_path: template.qemu_path,
      options: template.options,
      first_port_name: template.first_port_name,
      ram: template.ram,
    },
    {
      name: 'Our Box 2',
      template_type: 'qemu',
      category: 'firewall',
      symbol: ':/symbols/classic/firewall.svg',
      hda_disk_image: 'what-i-downloaded.bin',
      hdb_disk_image: 'disk',
      qemu_path: 'qemu-system-x86_64',
      options: '-cpu qemu64 -machine accel=tcg',
      first_port_name: 'mgmt',
      ram: 64,
    },
  );
  assert.equal((await lab.expect(200, 'GET', `/v2/templates/${template.template_id}`)).name, 'Our Box 2');

  // The older version is complete as well once its file is there, in capital letters or not.
  await upload(lab, 'older', 'version one');
  const named = await lab.expect(201, 'POST', make, { version: '1', name: 'Old box' });
  assert.equal(named.name, 'Old box');
  assert.equal(named.hda_disk_image, 'older');
  await rename(join(lab.state, 'images/QEMU/older'), join(lab.state, 'images/QEMU/.hidden'));
  await lab.expect(409, 'POST', make, { version: '1' });
});

test('what is asked wrongly is refused by name', async (t) => {
  const lab = await LabServer.start(t, { install_builtin_appliances: 'false' });
  await withBox(lab);
  await upload(lab, 'a', 'version one');
  const [{ appliance_id: id }] = await lab.expect(200, 'GET', '/v2/appliances/matches');
  const make = `/v2/appliances/${id}/template`;
  assert.match((await lab.expect(400, 'POST', make, { version: '3' })).message, /version: .*known are 2, 1/);
  assert.match((await lab.expect(400, 'POST', make, { version: 1 })).message, /version/);
  assert.match((await lab.expect(400, 'POST', make, { verison: '1' })).message, /verison/);
  assert.match((await lab.expect(404, 'POST', make, { compute_id: 'elsewhere' })).message, /elsewhere/);
  assert.match((await lab.expect(404, 'GET', '/v2/appliances/matches?compute_id=elsewhere')).message, /elsewhere/);
  const nobody = '/v2/appliances/00000000-0000-0000-0000-000000000000/template';
  assert.match((await lab.expect(404, 'POST', nobody, {})).message, /appliance_id/);
  // Documents whose members are of other types than they should be.
  for (const damage of [
    { versions: 'two' },
    { versions: [null, { name: 4 }], images: [3] },
    { qemu: [] },
    { category: 7 },
    { images: undefined },
  ]) {
    await withBox(lab, { ...BOX, ...damage });
    await lab.expect(200, 'GET', '/v2/appliances');
    await lab.expect(200, 'GET', '/v2/appliances/matches');
    const { status } = await lab.call('POST', make, {});
    assert.ok([201, 409].includes(status), `${JSON.stringify(damage)}: ${status}`);
  }
});

test('every appliance of the catalogue makes a template that nodes can be made of', async () => {
  const appliances = await new Appliances({ directory: '/nowhere', builtins: true }).list();
  const unusable: string[] = [];
  for (const appliance of appliances) {
    const images = (appliance.document['images'] ?? []) as { filename: string; md5sum: string }[];
    const present = Object.fromEntries(
      EMULATORS.map((emulator) => [emulator, images.map(({ filename, md5sum }) => ({ path: filename, md5sum }))]),
    ) as unknown as PresentImages;
    const matches = matchesOf(appliance, present, ':/symbols/x.svg');
    assert.ok(matches.length > 0, appliance.document.name);
    for (const match of matches) {
      if (match.emulator !== 'docker') assert.ok(match.complete, `${match.name} ${match.version}`);
      const complete = { ...match, images: match.images.map((image) => ({ ...image, path: image.filename })) };
      const template = templateOf(appliance.document, complete, { compute_id: 'local', symbol: ':/symbols/x.svg' });
      const whole = { ...v.parse(TemplateCreate, template), template_id: appliance.id, builtin: false };
      const checked = v.safeParse(typeSchema(whole)!, whole);
      assert.ok(
        checked.success,
        `${match.name}: ${checked.issues?.[0].message} ${JSON.stringify(checked.issues?.[0].path?.[0]?.key)}`,
      );
      const given = { name: 'n', nodeId: 'i', projectId: 'p', projectPath: '/p', guestCid: 3, console: 5000 };
      try {
        optionWords(String(template['options'] ?? ''), given, false);
      } catch {
        if (!unusable.includes(match.name)) unusable.push(match.name);
      }
    }
  }
  // Its options name a file of the host, and only whoever runs the host may allow that.
  assert.deepEqual(unusable, ['macOS']);
});
