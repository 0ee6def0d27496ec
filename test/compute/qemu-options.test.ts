// The options that a user gives to QEMU, and the words that become of them. Nothing is started.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optionWords } from '../../src/compute/emulators/qemu/options.ts';
import { normalisedOptions } from '../../src/compute/emulators/qemu/settings.ts';
import { properties, splitWords } from '../../src/compute/emulators/qemu/split-options.ts';
import { quoted } from '../../src/host/terminal/shell-word.ts';

const GIVEN = {
  name: 'a "b", c$d',
  nodeId: 'node-id',
  projectId: 'project-id',
  projectPath: '/labs/one, two',
  guestCid: 5000,
  console: 5000,
};

const words = (options: string, unsafe = false) => optionWords(options, GIVEN, unsafe);

test('words are split as a shell splits them', () => {
  assert.deepEqual(splitWords(`a  'b c' "d \\"e\\" \\n" f\\ g h'i'"j" ''`), [
    'a',
    'b c',
    'd "e" \\n',
    'f g',
    'hij',
    '',
  ]);
  assert.throws(() => splitWords(`-name "open`), /not closed/);
  assert.throws(() => splitWords(`it's`), /not closed/);
  for (const word of ['plain', 'two words', `it's`, '', '$HOME', '"', 'a\nb', '\\']) {
    assert.deepEqual(splitWords(quoted(word)), [word]);
  }
});

test('lists of properties are read as QEMU reads them', () => {
  assert.deepEqual(properties('virtio-net-pci,mac=1,,2,on'), [
    { name: 'virtio-net-pci', value: undefined },
    { name: 'mac', value: '1,2' },
    { name: 'on', value: undefined },
  ]);
});

test('placeholders are filled in; names become one word each', () => {
  assert.deepEqual(words('-smbios type=1,product=%vm-name% -uuid %vm-id%'), [
    ...['-smbios', 'type=1,product=a "b",, c$d', '-uuid', 'node-id'],
  ]);
  assert.deepEqual(words('-append "%project-id% %guest-cid% %console-port% %other%"'), [
    ...['-append', 'project-id 5000 5000 %other%'],
  ]);
  assert.deepEqual(words('-append %project-path%'), ['-append', '/labs/one,, two']);
  assert.deepEqual(optionWords('%console-port%', { ...GIVEN, console: null }, true), ['%console-port%']);
});

test('old words for acceleration become new ones', () => {
  assert.equal(normalisedOptions('-no-kvm -vga std '), '-machine accel=tcg -vga std');
  assert.equal(normalisedOptions(' -enable-kvm'), '-machine accel=kvm');
  assert.equal(normalisedOptions('-enable-hax'), '');
});

test('a serial port on a terminal without a program leads nowhere', () => {
  assert.deepEqual(words('-serial mon:stdio -nographic --serial stdio'), [
    '-serial',
    'null',
    '-nographic',
    '--serial',
    'null',
  ]);
  assert.deepEqual(words('-serial mon:stdio', true), ['-serial', 'mon:stdio']);
  assert.throws(() => words('-serial file:/etc/x'), { code: 'conflict' });
});

const HARMLESS = [
  ...['-nographic', '-machine accel=tcg -nographic', '-cpu host,+vmx', '--cpu max', '-smp 2,sockets=1', '-vga std'],
  ...[
    '-device e1000,mac=00:11:22:33:44:55',
    '-device virtio-blk-pci,drive=drive1',
    '-device usb-tablet',
    '-usbdevice tablet',
  ],
  ...[
    '-smbios type=1,manufacturer=cisco',
    '-rtc base=localtime',
    '-boot order=c,menu=on',
    '-serial none',
    '-monitor null',
  ],
  ...[
    '-global PIIX4_PM.disable_s3=1',
    '-fw_cfg name=opt/x,string=y',
    '-object rng-builtin,id=rng0',
    '-object secret,id=console,data=s3cret',
    '-net none',
    '-icount shift=3',
  ],
  ...[
    '-device virtio-rng-pci',
    '-no-reboot -no-acpi',
    '-uuid 11111111-2222-3333-4444-555555555555',
    '-accel tcg,thread=single',
  ],
];

for (const options of HARMLESS) {
  test(`allowed: ${options}`, () => assert.deepEqual(words(options), splitWords(options)));
}

const REFUSED = [
  // Of a property that is named twice QEMU takes the last.
  ...[
    '-device e1000,driver=pci-testdev',
    '-device driver=e1000,driver=pci-testdev',
    '-device e1000,mac=00:11:22:33:44:55,mac=00:11:22:33:44:56',
    '-usb -device e1000,driver=usb-host,vendorid=0x1d6b,productid=0x0002',
    '-usb -device e1000,driver=u2f-passthru,hidraw=/etc/hostname',
    '-device usb-kbd,hidraw=/etc/hostname',
    '-device virtio-net-pci,guest-cid=4242',
    '-device virtio-scsi-pci,wwpn=naa.1',
    '-device ide-hd,some-path=/etc/x',
    '-object iothread,qom-type=memory-backend-file,id=m,mem-path=canary,size=1M',
    '-object iothread,id=i,qom-type=can-bus',
    '-object rng-builtin,id=a,id=b',
    '-chardev null,id=a,backend=file',
    '-machine pc,type=q35',
    '-monitor vc',
  ],
  // The release refuses these.
  ...[
    '-blockdev x',
    '-drive file=/etc/shadow',
    '--drive file=/etc/shadow',
    '-hda x',
    '-hdd x',
    '-fsdev x',
    '-virtfs x',
    '-nic user',
    '-netdev user,id=a',
  ],
  // Files.
  ...[
    '-kernel /etc/shadow',
    '-initrd x',
    '-dtb x',
    '-bios x',
    '-pflash x',
    '-fda x',
    '-cdrom x',
    '-sd x',
    '-mtdblock x',
    '-loadvm x',
  ],
  ...[
    '-D /tmp/x',
    '-d guest_errors',
    '-trace file=/tmp/x',
    '-pidfile /tmp/x',
    '-readconfig /etc/x',
    '-writeconfig /tmp/x',
    '-L /tmp',
    '-mem-path /tmp',
  ],
  ...[
    '-smbios file=/etc/shadow',
    '-smbios type=1,file=/etc/shadow',
    '-fw_cfg name=opt/x,file=/etc/shadow',
    '-acpitable file=/etc/shadow',
  ],
  ...[
    '-boot splash=/etc/shadow',
    '-machine dumpdtb=/tmp/x',
    '-machine pc,kernel=/etc/shadow',
    '-machine initrd=/etc/x',
    '-M pc,dtb=/etc/x',
  ],
  ...['-device loader,file=/etc/shadow', '-device e1000,romfile=/etc/shadow', '-global e1000.romfile=/etc/shadow'],
  ...[
    '-global driver=e1000,property=romfile,value=/etc/x',
    '-device driver=loader,file=/etc/x',
    `-device '{"driver":"loader"}'`,
  ],
  ...[
    '-object memory-backend-file,id=m,mem-path=/etc/x',
    '-object secret,id=s,file=/etc/shadow',
    '-object secret,id=console,file=/etc/shadow',
    '-object secret,id=console,data=x,file=/etc/shadow',
    '-object secret,id=other,data=x',
    '-object rng-random,filename=/etc/x',
  ],
  ...[
    '-object filter-dump,id=f,netdev=gns3-0,file=/tmp/x',
    '-object input-linux,evdev=/dev/input/event0,id=i',
    '-icount rr=record,rrfile=/tmp/x',
  ],
  // Sockets and the network.
  ...['-serial tcp::4444,server', '-serial file:/tmp/x', '-serial /dev/ttyS0', '-serial pty', '-parallel file:/tmp/x'],
  ...[
    '-monitor stdio',
    '-monitor tcp:127.0.0.1:1,server',
    '-qmp tcp::4444,server',
    '-qmp-pretty x',
    '-mon chardev=x',
    '-gdb tcp::1',
    '-s',
  ],
  ...[
    '-chardev socket,id=a,host=127.0.0.1,port=1',
    '-chardev file,id=a,path=/tmp/x',
    '-chardev pty,id=a',
    '-chardev null,id=a,logfile=/tmp/x',
  ],
  ...[
    '-net user',
    '-net nic',
    '-net socket,listen=:1',
    '-net dump',
    '-vnc :1',
    '-spice port=1',
    '-incoming tcp::1',
    '-incoming "exec:id"',
  ],
  ...[
    '-display vnc=:1',
    '-display gtk',
    '-display egl-headless,rendernode=/dev/dri/x',
    '-tpmdev passthrough,id=t,path=/dev/tpm0',
  ],
  ...[
    '-audiodev wav,id=a,path=/tmp/x',
    '-device vfio-pci,host=01:00.0',
    '-device vhost-vsock-pci,guest-cid=3',
    '-device usb-host,hostbus=1',
  ],
  ...[
    '-device usb-mtp,rootdir=/etc',
    '-device virtio-input-host-pci,evdev=/dev/x',
    '-device ivshmem-doorbell,chardev=x',
    '-device pci-testdev',
  ],
  ...['-device scsi-generic,drive=drive0', '-device virtio-blk-pci,drive=other', '-device scsi-block,drive=drive0'],
  // Rights, programs, ways around.
  ...[
    '-sandbox off',
    '-runas root',
    '-chroot /',
    '-daemonize',
    '-semihosting',
    '-semihosting-config enable=on',
    '-plugin /tmp/x.so',
    '-add-fd fd=3',
  ],
  ...[
    '-set device.x.y=z',
    '-preconfig',
    '-cpu max,x=/etc/x',
    '-machine',
    '-smp 1 /etc/passwd',
    'image.qcow2',
    '-compat x',
    '-run-with x',
    '@x',
    '-',
  ],
];

for (const options of REFUSED) {
  test(`refused: ${options}`, () => {
    assert.throws(() => words(options), { code: 'conflict', exception: 'QemuError' });
    assert.deepEqual(words(options, true), splitWords(options), 'allow_unsafe_options allows it');
  });
}
