// What the client shows and finds: tables that fit, names, ends of links, the answer of a console.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Document, parse } from 'yaml';
import type { LinkObject, NodeObject } from '../../src/api/objects.ts';
import { ConsoleAnswer, promptLike } from '../../src/client/console/console-answer.ts';
import { yamlText } from '../../src/client/labfile/yaml-text.ts';
import { encodedName, encodedPath } from '../../src/client/server/encoded-path.ts';
import { findNamed } from '../../src/client/server/find.ts';
import { endText, findLink, parseEnd, portsToJoin } from '../../src/client/server/link-ends.ts';
import { inBytes } from '../../src/client/terminal/figures.ts';
import { tableLines } from '../../src/host/terminal/table.ts';
import { harmless, jsonText } from '../../src/host/terminal/terminal-text.ts';
import { fitted, textWidth } from '../../src/host/terminal/text-width.ts';

test('a table fits the terminal, whatever is in it and however narrow that is; without one nothing is cut', () => {
  const rows = [
    ['Netz für Übungen', 'opened', '2/14', 'c1f3a2b4-0000-4000-8000-000000000001'],
    ['東京の研究室', 'closed', '', 'c1f3a2b4-0000-4000-8000-000000000002'],
  ];
  const whole = tableLines(['LAB', 'STATUS', 'RUNNING', 'ID'], rows);
  assert.equal(whole[1], 'Netz für Übungen  opened  2/14     c1f3a2b4-0000-4000-8000-000000000001');
  assert.equal(whole[2], '東京の研究室      closed           c1f3a2b4-0000-4000-8000-000000000002');
  const narrow = tableLines(['LAB', 'STATUS', 'RUNNING', 'ID'], rows, 40);
  assert.deepEqual(
    narrow.map(textWidth).filter((width) => width > 40),
    [],
  );
  assert.match(narrow[1]!, /^Netz für.*… {2}opened {2}2\/14 +c1f3a2b4-?…$/, 'enough of an identifier to name it by');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), { maxLength: 5 }),
      fc.integer({ min: 1, max: 60 }),
      (cells, width) => tableLines(['A', 'LONGER'], cells, width).every((line) => textWidth(line) <= width),
    ),
    { numRuns: 40 },
  );
});

test('texts of others cannot act on the terminal, and are cut between characters', () => {
  assert.equal(harmless('a\u001b[2Jb\u202ec\nd'), 'a\ufffd[2Jb\ufffdc\ufffdd');
  const odd = 'a\u001b]0;x\u0007\u009b31m\u202e\u2028ü';
  for (const text of [
    jsonText({ [odd]: odd }, 2),
    yamlText(new Document({ [odd]: [odd, `${odd}\n${'long '.repeat(30)}\n`, 'plain'] })),
  ]) {
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
    const [[key, value] = []] = Object.entries(parse(text) as Record<string, unknown>);
    assert.deepEqual([key, [value].flat()[0]], [odd, odd], 'it means the same');
    assert.match(text, /ü/, 'letters stay');
  }
  assert.equal(fitted('👩‍👩‍👧 family', 5), '👩‍👩‍👧 f…');
  assert.equal(fitted('日本語', 4), '日…');
  assert.equal(textWidth('e\u0301'), 1);
  assert.deepEqual([0, 1023, 1536, 5 * 2 ** 30].map(inBytes), ['0 bytes', '1023 bytes', '1.5 KiB', '5.0 GiB']);
});

test('things are found by name, by id and by the beginning of one; what is ambiguous is reported with the ids', () => {
  const all = [
    { id: 'aaaaaaaa-0000-4000-8000-000000000001', name: 'Büro' },
    { id: 'bbbbbbbb-0000-4000-8000-000000000002', name: 'two words' },
    { id: 'bbbbbbbb-0000-4000-8000-000000000003', name: 'Büro' },
    { id: 'cccccccc-0000-4000-8000-000000000004', name: 'aaaaaaaa' },
  ];
  const find = (wanted: string): string => findNamed('lab', all, (one) => one, wanted).id;
  assert.equal(find('two words'), all[1]!.id);
  assert.equal(find(all[2]!.id.toUpperCase()), all[2]!.id);
  assert.equal(find('aaaaaaaa'), all[3]!.id, 'a name goes before the beginning of an id');
  assert.equal(find('aaaaaaaa-'), all[0]!.id);
  assert.throws(() => find('Büro'), /There are 2 labs "Büro"; use an id: aaaaaaaa-.*1, bbbbbbbb-.*3/);
  assert.throws(() => find('bbbbbbbb'), /There are 2 labs/);
  assert.throws(() => find('Buro'), /There is no lab "Buro"; did you mean "Büro"\?/);
  assert.throws(() => find('two w'), /There is no lab "two w"; did you mean "two words"\?/);
  assert.throws(() => find('zzzz'), /There is no lab "zzzz"\. Labs: "Büro", "two words"/);
});

const ethernet = (short_name: string, port_number: number) =>
  ({ name: `Ethernet${port_number}`, short_name, adapter_number: 0, port_number, link_type: 'ethernet' }) as const;
const device = (name: string, ports: object[]) => ({ node_id: `id of ${name}`, name, ports }) as unknown as NodeObject;
const at = ({ node_id }: NodeObject, port_number: number) => ({ node_id, adapter_number: 0, port_number });

test('ends of links are a node, or a node and its port, by each of its names', () => {
  const serial = { ...ethernet('s1/0', 0), adapter_number: 1, name: 'Serial1/0', link_type: 'serial' as const };
  const pc = device('PC1', [ethernet('e0', 0)]);
  const router = device('R:1', [serial, ethernet('f0', 0), ethernet('f1', 1)]);
  const other = device('R2', [{ ...serial }, ethernet('f0', 0)]);
  const nodes = [pc, router, other];
  const link = { link_id: 'l1', nodes: [at(pc, 0), at(router, 1)] } as LinkObject;
  const second = { link_id: 'l2', nodes: [at(router, 0), at(other, 0)] } as LinkObject;
  assert.equal(parseEnd(nodes, 'R:1').node, router);
  for (const word of ['R:1:f1', 'R:1:Ethernet1', 'R:1:0/1']) assert.equal(parseEnd(nodes, word).port, router.ports[2]);
  assert.throws(() => parseEnd(nodes, 'PC1:e7'), /Node "PC1" has no port "e7"; it has e0/);
  assert.throws(() => parseEnd(nodes, 'PC9:e0'), /There is no node "PC9"/);

  assert.equal(findLink(nodes, [link, second], 'PC1'), link);
  assert.equal(findLink(nodes, [link, second], 'R:1:f0'), second);
  assert.equal(findLink(nodes, [link, second], 'l2'), second);
  assert.throws(
    () => findLink(nodes, [link, second], 'R:1'),
    /"R:1" has 2 links; name a port: "PC1:e0 -- R:1:f1", "R:1:f0 -- R2:f0"$/,
  );
  assert.throws(() => findLink(nodes, [link], 'R2'), /"R2" has no link/);
  assert.equal(endText(nodes, link.nodes[1]!), 'R:1:f1');
  assert.equal(findLink(nodes, [link, second], 'PC1:e0 -- R:1:f1'), link, 'by what lists show');
  const parallel = { link_id: 'l3', nodes: [at(router, 2), at(other, 1)] } as LinkObject;
  for (const word of ['R:1:f1 -- PC1:e0', 'PC1 -- R:1', 'R:1 -- PC1', 'PC1 -- R:1:0/1'])
    assert.equal(findLink(nodes, [link, second], word), link, word);
  assert.throws(() => findLink(nodes, [link], 'PC1 -- R2'), /"PC1 -- R2" has no link \(labwired link list\)/);
  assert.throws(() => findLink(nodes, [link], 'PC1 -- R3'), /There is no node "R3"; did you mean "R2"\?/);
  assert.throws(
    () => findLink(nodes, [link, second, parallel], 'R:1'),
    /"R:1" has 3 links; name a port: "PC1:e0 -- R:1:f1", "R:1:f0 -- R2:f0", /,
  );
  const text = /There is no link "Xyz"\. Links: "PC1:e0 -- R:1:f1", "R:1:f0 -- R2:f0" \(labwired link list\)\./;
  assert.throws(() => findLink(nodes, [link, second], 'Xyz'), text);
  assert.throws(() => findLink(nodes, [link, second], 'PC2:e0'), /no node or link "PC2:e0"; did you mean "PC1"\?/);
  const one1 = parseEnd(nodes, 'PC1');
  assert.throws(() => portsToJoin({ nodes, links: [] }, [one1, one1]), /Both ends are at node "PC1": a link joins two/);
  assert.throws(
    () => portsToJoin({ nodes, links: [link] }, [parseEnd(nodes, 'PC1:e0'), parseEnd(nodes, 'R2')]),
    /PC1:e0 is not free: e0 is linked to R:1:f1\./,
  );

  const [one, two] = portsToJoin({ nodes, links: [link] }, [parseEnd(nodes, 'R:1:f0'), parseEnd(nodes, 'R2')]);
  assert.deepEqual([one.short_name, two.short_name], ['f0', 'f0'], 'serial does not go to ethernet');
  const free = portsToJoin({ nodes, links: [link, second] }, [parseEnd(nodes, 'R:1'), parseEnd(nodes, 'R2')]);
  assert.deepEqual(
    free.map(({ short_name }) => short_name),
    ['s1/0', 's1/0'],
  );
  assert.throws(
    () => portsToJoin({ nodes, links: [link] }, [parseEnd(nodes, 'PC1'), parseEnd(nodes, 'R2')]),
    /"PC1" has no free port: e0 is linked to R/,
  );
});

/** What is printed of an answer that comes in these pieces. */
function answered(line: string, shown: string, pieces: readonly string[], until?: RegExp) {
  const answer = new ConsoleAnswer({ line, prompt: until ? undefined : promptLike(shown), until });
  const ends = pieces.map((piece) => {
    answer.receive(piece);
    return answer.hasEnded;
  });
  return { text: answer.take() + answer.rest(), ends };
}

test('the answer of a console is what stands between the echo and the next prompt', () => {
  const ping = ['pi', 'ng 10.0.0.2\r\n', '84 bytes\r', '\n\u001b[1mPC', '1\u001b[0m> '];
  assert.deepEqual(answered('ping 10.0.0.2', 'PC1> ', ping), {
    text: '84 bytes\n',
    ends: [false, false, false, false, true],
  });
  assert.deepEqual(answered('conf t', 'R1#', ['conf t\r\nEnter commands.\r\nR1(config)#']), {
    text: 'Enter commands.\n',
    ends: [true],
  });
  assert.deepEqual(answered('x', 'R1#', ['x\r\nR1 is here\r\nR1']).ends, [false], 'a name alone is no prompt');
  assert.equal(answered('cat', '/ # ', ['cat\r\nlast line without an end']).text, 'last line without an end\n');
  assert.deepEqual(answered('boot', '', ['boot\r\nlogin: '], /login: $/), { text: 'login:\n', ends: [true] });
  const late = { text: '42\n', ends: [false, false, false, true] };
  assert.deepEqual(answered('x', '/ # ', ['x', '\r', '\r\n42\r\n', '/ # ']), late, 'the end of the echo comes late');
  assert.equal(answered('cd /bin', '/ # ', ['cd /bin\r\n/bin # ']).text, '', 'a shell in another directory');
  assert.equal(answered('x', '/ # ', ['x\r\nC# ']).text, 'C#\n', 'which is no directory');
  assert.deepEqual(answered('login', '', ['login'], /login/).ends, [false], 'the echo is no answer');
});

test('a name in the path of a request leads to no other path', () => {
  assert.equal(encodedPath('etc/a b/..c'), 'etc/a%20b/..c');
  assert.equal(encodedName('a/%2e%2e'), 'a%2F%252e%252e');
  for (const path of ['..', 'a/../b', './a', 'a//b', '/a', ''])
    assert.throws(() => encodedPath(path), { code: 'invalid' }, path);
});
