// The texts of drawings and styles, and places on the map.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isCrossed } from '../../src/layout/count-faults.ts';
import {
  newShape,
  pictureSize,
  readShape,
  resized,
  type Shape,
  sizeOf,
  writeShape,
} from '../../src/web/model/lab/drawing.ts';
import { nodeTakes, takenIn, wayToRoom, withName } from '../../src/web/model/lab/free-place.ts';
import { type Box, nearest, overlap, type Point, snapped, turned } from '../../src/web/model/lab/geometry.ts';
import { groupAround, inGroups } from '../../src/web/model/lab/groups.ts';
import { dashesOf, readLinkStyle, readStyle } from '../../src/web/model/lab/label-style.ts';
import type { DrawingObject, LinkObject, NodeObject } from '../../src/web/model/server/types.ts';

test('shapes of other clients are read', () => {
  const rect = '<rect fill="#fff" fill-opacity="0.5" height="100" stroke="#000000" stroke-width="2" width="200" />';
  assert.deepEqual(readShape(`<svg height="100" width="200">${rect}</svg>`), {
    ...{ kind: 'rect', width: 200, height: 100, radius: 0, isGroup: false },
    ...{ fill: '#fff', fillOpacity: 0.5, stroke: '#000000', strokeWidth: 2, dashes: '' },
  });
  const ellipse = readShape(
    `<?xml version="1.0"?>\n<svg width='20' height='10'>\n <ellipse cx='10' cy='5' rx='10' ry='5' stroke-dasharray='10, 5'></ellipse>\n</svg>`,
  );
  assert.ok(ellipse?.kind === 'ellipse');
  assert.deepEqual([ellipse.width, ellipse.height, ellipse.dashes.split(/ +/)], [20, 10, ['10', '5']]);
  const line = readShape('<svg height="0" width="9"><line stroke="#00f" x1="0" x2="9" y1="0" y2="0"/></svg>');
  assert.ok(line?.kind === 'line' && line.x2 === 9);
  const text = readShape(
    '<svg height="5" width="5"><text fill="#000000" font-family="TypeWriter" font-size="10.0" font-weight="bold">a &lt;b&gt; &amp; &#233;\nc</text></svg>',
  );
  assert.ok(text?.kind === 'text');
  assert.deepEqual([text.text, text.fontSize, text.isBold], ['a <b> & é\nc', 10, true]);
  for (const svg of [
    '<svg xmlns="http://www.w3.org/2000/svg" height="5" width="5"><text text-decoration="underline">a</text></svg>',
    '<svg height="5" width="5"><text text-decoration="underline">a</text></svg>',
  ])
    assert.match(writeShape(readShape(svg)!), / text-decoration="underline">a</);
  const round = readShape('<svg height="9" width="9"><rect width="9" height="9" rx="2" ry="2"/></svg>');
  assert.ok(round?.kind === 'rect' && round.radius === 2);
  // Half of an odd width, rounded once.
  assert.ok(readShape('<svg height="9" width="9"><ellipse cx="4" cy="4" rx="4.5" ry="4.5"/></svg>'));
});

test('what editing would lose, or what is no drawing, is left as a picture', () => {
  for (const svg of [
    '',
    '<svg></svg>',
    '<svg/>',
    'not at all',
    '<svg><rect width="1" height="1"/><rect width="1" height="1"/></svg>',
    '<svg><script>x</script></svg>',
    '<svg><rect width="1" height="1" onclick="x()"/></svg>',
    '<svg><rect width="1" height="1" transform="scale(2)"/></svg>',
    '<svg><text>a<tspan>b</tspan></text></svg>',
    '<svg><text>a</text></svg><svg></svg>',
    '<svg viewBox="0 0 9 9"><rect width="1" height="1"/></svg>',
    '<svg style="opacity: 0.5"><rect width="1" height="1"/></svg>',
    '<svg class="faint"><rect width="1" height="1"/></svg>',
    '<svg><rect x="5" width="1" height="1"/></svg>',
    '<svg><rect width="9" height="9" rx="1" ry="2"/></svg>',
    '<svg><rect width="9" height="9" rx="1" ry="0"/></svg>',
    '<svg><ellipse cx="20" cy="5" rx="5" ry="5"/></svg>',
    '<svg><ellipse rx="5" ry="5"/></svg>',
    '<svg><text x="0" y="12">a</text></svg>',
    '<svg><rect width="1" height="1">',
    '<html><svg><rect width="1" height="1"/></svg></html>',
  ]) {
    assert.equal(readShape(svg), undefined, svg);
  }
  assert.deepEqual(pictureSize('<svg xmlns="x" height="30px" width="40">'), { width: 40, height: 30 });
  assert.deepEqual(pictureSize('<svg width="1e9" height="-3">'), { width: 20_000, height: 1 });
  assert.deepEqual(pictureSize('nothing'), { width: 100, height: 100 });
});

test('what is written is read again as it was, whatever it says', () => {
  const words = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(words, fc.integer({ min: 4, max: 200 }), fc.boolean(), (text, fontSize, isBold) => {
      const shape: Shape = { ...newShape('text'), text, fontFamily: text || 'x', fontSize, isBold };
      assert.deepEqual(readShape(writeShape(shape)), shape);
    }),
  );
  fc.assert(
    fc.property(fc.nat(5000), fc.nat(5000), fc.constantFrom('', '10 5'), (width, height, dashes) => {
      for (const kind of ['rect', 'ellipse'] as const) {
        const shape = { ...newShape(kind), width, height, dashes };
        assert.deepEqual(readShape(writeShape(shape)), shape);
        assert.deepEqual(pictureSize(writeShape({ ...shape, width: width + 1, height: height + 1 })), {
          ...sizeOf({ ...shape, width: width + 1, height: height + 1 }),
        });
      }
      const line = { ...newShape('line'), x2: width, y2: height, dashes };
      assert.deepEqual(readShape(writeShape(line)), line);
    }),
  );
});

test('an end of a line is moved without the other one, however the line is rotated', () => {
  const shape = { ...newShape('line'), x1: 0, y1: 0, x2: 200, y2: 100 };
  const way = { x: -300, y: -50 };
  for (const rotation of [0, 90, 180, 30, -45]) {
    const ends = ({ x, y, shape: line }: ReturnType<typeof resized>): Point[] => {
      assert.ok(line.kind === 'line');
      assert.equal(Math.min(line.x1, line.x2) + Math.min(line.y1, line.y2), 0);
      const drawn = [turned({ x: line.x1, y: line.y1 }, rotation), turned({ x: line.x2, y: line.y2 }, rotation)];
      return drawn.map((at) => ({ x: x + at.x, y: y + at.y }));
    };
    const former = ends({ x: 40, y: 30, shape });
    for (const [handle, index] of [
      ['start', 0],
      ['end', 1],
    ] as const) {
      const now = ends(resized({ x: 40, y: 30, rotation }, shape, handle, way));
      const moved = turned(way, rotation);
      const expected = former.map(({ x, y }, at) => (at === index ? { x: x + moved.x, y: y + moved.y } : { x, y }));
      for (const [at, { x, y }] of now.entries())
        assert.ok(Math.hypot(x - expected[at]!.x, y - expected[at]!.y) < 1, `${rotation} ${handle} ${at}`);
    }
  }
});

test('of styles only what is known is taken', () => {
  assert.deepEqual(
    readStyle('font-family: TypeWriter;font-size: 10.0;font-weight: bold;fill: #000000;fill-opacity: 1.0;'),
    {
      fontWeight: 'bold',
    },
  );
  assert.deepEqual(readStyle('fill: #ff00aa; font-size: 12; background: url(http://192.0.2.1/)'), {
    fill: '#ff00aa',
    fontSize: 16,
  });
  assert.deepEqual(readStyle('fill: url(#x); font-size: 9999'), {});
  assert.deepEqual(readStyle(null), {});
  assert.deepEqual(readLinkStyle({ color: '#0000ff', width: 3, type: 2, more: 1 }), {
    color: '#0000ff',
    width: 3,
    type: 2,
  });
  assert.deepEqual(readLinkStyle({ color: 'red;', width: 1e9, type: 'x' }), {});
  assert.deepEqual([dashesOf({}), dashesOf({ type: 2, width: 1 })], ['', '4 3']);
});

test('the grid counts for the middle of a thing, the nearest lies straight on, and nothing is put upon another', () => {
  assert.deepEqual(snapped({ x: 13, y: 90, width: 50, height: 50 }, 25), { x: 25, y: 100 });
  assert.deepEqual(snapped({ x: 13.4, y: 90, width: 50, height: 50 }, 0), { x: 13, y: 90 });
  const places = [
    { at: { x: 100, y: 90 }, name: 'aside' },
    { at: { x: 150, y: 5 }, name: 'straight' },
    { at: { x: -50, y: 0 }, name: 'behind' },
  ];
  assert.equal(nearest({ x: 0, y: 0 }, 1, 0, places)?.name, 'straight');
  assert.equal(nearest({ x: 0, y: 0 }, -1, 0, places)?.name, 'behind');
  assert.equal(nearest({ x: 0, y: 0 }, 0, -1, places), undefined);
});

test('something new stands on no node, name, link or drawing, and within a frame', () => {
  const nodes = new Map<string, NodeObject>();
  const links = new Map<string, LinkObject>();
  const drawings = new Map<string, DrawingObject>();
  const lab = { nodes, links, drawings };
  const size = { width: 60, height: 50 };
  const drawing = (svg: string, x: number, y: number): void => {
    const id = String(drawings.size);
    drawings.set(id, { ...{ drawing_id: id, project_id: '', x, y, z: 1, rotation: 0, locked: false }, svg });
  };
  const add = (name: string): Box => {
    const wanted = withName({ x: -30, y: -25, ...size });
    const way = wayToRoom(wanted, takenIn(lab));
    const node = { node_id: name, x: -30 + way.x, y: -25 + way.y, ...size, label: { text: name, x: null, y: -25 } };
    nodes.set(name, node as NodeObject);
    return { ...wanted, x: wanted.x + way.x, y: wanted.y + way.y };
  };
  const placed = [add('PC1'), add('PC2')];
  assert.ok(Math.abs(placed[0]!.x - placed[1]!.x) >= 120 || Math.abs(placed[0]!.y - placed[1]!.y) >= 130);
  const [one, other] = ['PC1', 'PC2'].map((id) => ({ node_id: id, adapter_number: 0, port_number: 0 }));
  links.set('link', { link_id: 'link', nodes: [one, other] } as LinkObject);
  drawing(writeShape({ ...newShape('text'), text: 'Office' }), 20, 80);
  // A frame around all, in which things stand, though not upon its border.
  drawing('<svg width="700" height="700"><rect width="700" height="700" fill="#ffffff" /></svg>', -350, -350);
  // A name that is moved far to the right of its node.
  nodes.set('far', {
    node_id: 'far',
    x: 120,
    y: -25,
    ...size,
    label: { text: 'a long name', x: 70, y: 20 },
  } as NodeObject);
  for (let count = 0; count < 30; count += 1) {
    const before = takenIn(lab);
    const box = add(`a rather long name ${count}`);
    assert.ok(!before.boxes.some((taken) => overlap(box, taken)), `${count} on a node, a name or a text`);
    assert.ok(!before.lines.some(([from, to]) => isCrossed(from, to, box)), `${count} on a link or a border`);
  }
  const inFrame = [...nodes.values()].filter(({ x, y }) => Math.abs(x) < 350 && Math.abs(y) < 350);
  assert.ok(inFrame.length > 5, `${inFrame.length} in the frame`);
});

test('a name that is turned or moved takes the place where it is drawn', () => {
  const node = { x: 100, y: 100, width: 60, height: 50 };
  const [, name] = nodeTakes({ ...node, label: { text: 'abcdefghij', x: 70, y: 10, rotation: 90 } } as NodeObject);
  assert.ok(name!.height > name!.width && name!.y === 110, JSON.stringify(name));
  assert.deepEqual(nodeTakes({ ...node, label: { text: '' } } as NodeObject), [node]);
  const [, high] = nodeTakes({ ...node, label: { text: 'abc', x: 0, y: null } } as NodeObject);
  assert.equal(high?.y, node.y - 20, 'without `y` it is above, where the map draws it');
});

test('a group holds the nodes with their middle in it and the drawings within it, also when it is rotated', () => {
  const node = (id: string, x: number, y: number) =>
    ({ node_id: id, x, y, width: 20, height: 20, label: { text: id } }) as NodeObject;
  const drawing = (id: string, x: number, y: number, shape: Shape, fields = {}) =>
    ({ drawing_id: id, x, y, rotation: 0, locked: false, svg: writeShape(shape), ...fields }) as DrawingObject;
  const area = { ...newShape('rect'), width: 200, height: 100, isGroup: true };
  const small = { ...newShape('rect'), width: 30, height: 30 };
  const nodes = [node('in', 5, 5), node('half', 185, 50), node('out', 240, 50), node('left', -70, 100)];
  const held = (group: DrawingObject, others: DrawingObject[] = []): string[] => {
    const found = inGroups([group], {
      nodes: new Map(nodes.map((each) => [each.node_id, each])),
      links: new Map(),
      drawings: new Map([group, ...others].map((each) => [each.drawing_id, each])),
    });
    return [...found.nodes.map(({ node_id: id }) => id), ...found.drawings.map(({ drawing_id: id }) => id)];
  };
  const [within, across] = [drawing('within', 20, 20, small), drawing('across', 190, 20, small)];
  assert.deepEqual(held(drawing('group', 0, 0, area), [within, across]), ['in', 'half', 'within']);
  assert.deepEqual(held(drawing('ordinary', 0, 0, { ...area, isGroup: false })), []);
  assert.deepEqual(held(drawing('locked', 0, 0, area, { locked: true })), []);
  assert.deepEqual(held(drawing('rotated', 0, 0, area, { rotation: 90 })), ['left']);
  assert.deepEqual(held(drawing('round', 0, 0, { ...newShape('ellipse'), width: 200, height: 100, isGroup: true })), [
    'half',
  ]);
  // A drawing goes along where it is seen, not where it would be without the rotations.
  const [lying, turned] = [drawing('lying', -50, 20, small), drawing('turned', 20, 20, small, { rotation: 180 })];
  assert.deepEqual(held(drawing('rotated', 0, 0, area, { rotation: 90 }), [within, lying]), ['left', 'lying']);
  assert.deepEqual(held(drawing('group', 0, 0, area), [turned]), ['in', 'half']);
  const corner = drawing('corner', 0, 0, small);
  assert.deepEqual(
    held(drawing('round', 0, 0, { ...newShape('ellipse'), width: 200, height: 100, isGroup: true }), [corner]),
    ['half'],
  );
  // One of the same size lies in it, whatever the rotation.
  const same = [0, 30, 45, 200].map((rotation) => {
    const [outer, inner] = ['outer', 'inner'].map((id) => drawing(id, 900, 900, area, { rotation }));
    return held(outer!, [inner!]);
  });
  assert.deepEqual(same, Array(4).fill(['inner']));

  // Other clients find one rectangle.
  const { shape, ...at } = groupAround(nodes.slice(0, 2));
  const svg = writeShape(shape);
  assert.match(svg, /^<svg height="\d+" width="\d+" class="group"><rect [^<>]* \/><\/svg>$/);
  assert.deepEqual(readShape(svg), shape);
  assert.deepEqual(held(drawing('new', at.x, at.y, shape)), ['in', 'half']);
});
