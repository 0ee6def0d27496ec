// Many adapters: each has a place on a PCI bus of the machine, and its guest has interrupts for them all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adapterSlots } from '../../src/compute/emulators/qemu/adapter-slots.ts';
import { machines, noQemu, SMALL } from './qemu-support.ts';

const PLAIN = { drives: 0, channels: 0, usb: false, options: [] };

test('a place is the same as in the release as long as that has one, and no two adapters share one', () => {
  assert.deepEqual(adapterSlots(28, PLAIN).bridges, 0);
  const forty = adapterSlots(40, PLAIN);
  assert.equal(forty.bridges, 1);
  assert.deepEqual(
    [forty.slots[27], forty.slots[28], forty.slots[39]],
    [{}, { bridge: 1, slot: 0 }, { bridge: 1, slot: 11 }],
  );
  const roots = [PLAIN, { ...PLAIN, drives: 4 }, { drives: 4, channels: 2, usb: true, options: ['-machine', 'q35'] }];
  for (const root of roots) {
    for (let count = 0; count <= 275; count++) {
      const { bridges, slots } = adapterSlots(count, root);
      assert.equal(slots.length, count);
      const behind = slots.filter(({ bridge }) => bridge !== undefined).map((slot) => JSON.stringify(slot));
      assert.equal(new Set(behind).size, behind.length);
      const onRoot = count - behind.length + bridges + root.drives + root.channels + (root.usb ? 4 : 3);
      assert.ok(onRoot <= 32, `${count} adapters take ${onRoot} slots of the root bus`);
    }
  }
});

test('machines with as many adapters as the API allows start, of both machine types', {
  skip: noQemu,
}, async (t) => {
  const { lab, project } = await machines(t, { frames: 'udp' });
  for (const [adapters, more] of [
    [61, { console_type: 'spice+agent' }],
    [144, { console_type: 'vnc', adapter_type: 'virtio-net-pci', cpus: 2, options: '-machine accel=tcg -machine q35' }],
    [275, { options: '-machine accel=tcg -device virtio-rng-pci -device virtio-balloon-pci' }],
  ] as const) {
    const node = await lab.node(project, 'qemu', { ...SMALL, ram: 128, adapters, ...more });
    const { command_line } = await lab.expect(200, 'POST', `${node}/start`);
    // With three vectors for each adapter, a guest with one processor can use 65 and no other device.
    const shared = command_line.match(/virtio-net-pci,[^ ]*,vectors=0/g) ?? [];
    assert.equal(shared.length, 'adapter_type' in more ? adapters - 60 * more.cpus : 0);
    await lab.expect(204, 'DELETE', node);
  }
});
