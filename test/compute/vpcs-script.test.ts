// The start-up script of a virtual PC follows the node's name and nothing else in it changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialScript, renameInScript } from '../../src/compute/emulators/vpcs/script.ts';

test('%h in the template becomes the name, every time and literally', () => {
  assert.equal(initialScript('set pcname %h\necho %h\n', 'PC1'), 'set pcname PC1\necho PC1\n');
  assert.equal(initialScript('set pcname %h\n', "$& $1 $' %h"), "set pcname $& $1 $' %h\n");
  assert.equal(initialScript('ip dhcp\n', 'PC1'), 'ip dhcp\n');
});

const renames: { name: string; from: string; to: string; script: string; becomes: string }[] = [
  {
    name: 'the old name and the set pcname line',
    from: 'PC1',
    to: 'PC2',
    script: 'set pcname PC1\necho this is PC1\n',
    becomes: 'set pcname PC2\necho this is PC2\n',
  },
  {
    name: 'a set pcname line with another name, whatever its case and blanks',
    from: 'PC1',
    to: 'PC2',
    script: '  SET  pcname \t other one\r\nip 10.0.0.1/24\r\n',
    becomes: '  SET  pcname \t PC2\r\nip 10.0.0.1/24\r\n',
  },
  {
    name: 'a name with blanks',
    from: 'PC 2',
    to: 'Renamed',
    script: 'ip 10.1.1.1/24\nset pcname PC 2\necho PC 2.\n',
    becomes: 'ip 10.1.1.1/24\nset pcname Renamed\necho Renamed.\n',
  },
  {
    name: 'longer words with the name in them stay',
    from: 'PC1',
    to: 'X',
    script: 'echo PC10 myPC1 PC1-a a/PC1 PC1\n',
    becomes: 'echo PC10 myPC1 PC1-a a/PC1 X\n',
  },
  {
    name: 'a name like a number changes no address',
    from: '1',
    to: 'PC',
    script: 'ip 10.0.0.1 1\n',
    becomes: 'ip 10.0.0.1 1\n',
  },
  {
    name: 'a name like an address changes no address',
    from: '10.0.0.1',
    to: 'PC',
    script: 'ip 10.0.0.1\nset pcname x\n',
    becomes: 'ip 10.0.0.1\nset pcname PC\n',
  },
  {
    name: 'a name like a command changes no command',
    from: 'ip',
    to: 'PC',
    script: 'ip dhcp\necho ip\n',
    becomes: 'ip dhcp\necho PC\n',
  },
  {
    name: 'signs with a meaning to patterns are signs',
    from: 'a.b+(c)',
    to: '$&$1',
    script: 'echo a.b+(c) axb\n',
    becomes: 'echo $&$1 axb\n',
  },
  { name: 'comments follow', from: 'PC1', to: 'PC2', script: '# PC1 of the lab\n', becomes: '# PC2 of the lab\n' },
  { name: 'no name, no change', from: '', to: 'PC2', script: 'echo a\n', becomes: 'echo a\n' },
];

for (const { name, from, to, script, becomes } of renames) {
  test(`renaming a node in its script: ${name}`, () => {
    assert.equal(renameInScript(script, from, to), becomes);
  });
}
