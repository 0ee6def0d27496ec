// The classic set: devices as they stand in network diagrams.
import type { BuiltinSymbol, ClassicName } from '../../src/controller/symbols/catalogue.ts';
import { type Area, aboveSockets, BLUE, BRICK, box, bricks, drum, GRAY, INK, mark, screen, sockets } from './bodies.ts';
import {
  EDGE_ARROW,
  EXCHANGE,
  FLOW,
  GATE,
  GLYPHS,
  HANDSET,
  MULTILAYER,
  ROUTE_ARROWS,
  SWITCH,
  TERMINAL,
} from './glyphs.ts';
import { word } from './letters.ts';
import { LUCIDE } from './lucide-glyphs.ts';
import { document, element, gradient, group, type Markup, path, placed, stroked } from './svg.ts';

type Draw = (area: Area) => Markup;

/** Letters in the middle of an area, `height` pixels high. */
function label(text: string, { x, y, width, height }: Area, size: number, colour = INK): Markup {
  return stroked(colour, 1.6, word(text, x + width / 2, y + height / 2, size));
}

/** The left or right part of an area. */
const left = (area: Area, share = 0.5): Area => ({ ...area, width: area.width * share });
const right = (area: Area, share = 0.5): Area => ({
  ...area,
  x: area.x + area.width * (1 - share),
  width: area.width * share,
});
const upper = (area: Area, share = 0.5): Area => ({ ...area, height: area.height * share });
const lower = (area: Area, share = 0.5): Area => ({
  ...area,
  y: area.y + area.height * (1 - share),
  height: area.height * share,
});

const router =
  (more?: Draw): Draw =>
  (area) =>
    drum(area, BLUE, path(ROUTE_ARROWS), more);
const cube =
  (more: Draw, paint = BLUE): Draw =>
  (area) =>
    box(area, 9, paint, more);
/** A flat device for a rack, with sockets. */
const slab =
  (more: Draw): Draw =>
  (area) =>
    box(area, 10, BLUE, (front) => sockets(front, 8) + more(aboveSockets(front)));
const guest =
  (glyph: Markup, size = 24): Draw =>
  (area) =>
    screen(area, (glass) => mark(glyph, glass, size, 1.9));

/** Arrows of the width of a slab; a square of 24 each would be too small there. */
function wide(d: string, { x, y, width, height }: Area): Markup {
  return placed(x + width / 2, y + height / 2, 1, 1, stroked(INK, 1.8, path(d)));
}

const waves = (area: Area): Markup => mark(path(LUCIDE.wifi), area, 17, 1.7);

const CLOUD =
  'M30 69.5A22 22 0 0 1 22.5 27.5A23 23 0 0 1 58 14.5A32 32 0 0 1 113 18.5A22 22 0 0 1 139.5 32A19 19 0 0 1 137 69.5z';

const cloud =
  (more: Draw): Draw =>
  (area) =>
    gradient('cloud', '#ffffff', '#bcd6f2') +
    path(CLOUD, { fill: 'url(#cloud)', stroke: BLUE.side, 'stroke-width': 2, 'stroke-linejoin': 'round' }) +
    more(area);

const tower =
  (more: Draw): Draw =>
  (area) =>
    box(area, 11, GRAY, more);

function drives({ x, y, width }: Area): Markup {
  const slots = [0, 1, 2].map((index) =>
    element('rect', { x: x + 4, y: y + 4 + index * 6.5, width: width - 8, height: 4, rx: 1 }),
  );
  return group({ fill: GRAY.top, stroke: GRAY.edge, 'stroke-width': 0.9 }, ...slots);
}

function lamp(cx: number, cy: number, fill = '#3fbf5f'): Markup {
  return element('circle', { cx, cy, r: 1.7, fill, stroke: GRAY.edge, 'stroke-width': 0.7 });
}

function grille({ x, y, width, height }: Area): Markup {
  return stroked(
    GRAY.edge,
    1.2,
    path([18, 14, 10, 6].map((up) => `M${x + 5} ${y + height - up}h${width - 18}`).join('')),
  );
}

function shield(front: Area): Markup {
  const scale = 1.15;
  const [x, y] = [front.x + front.width / 2 - 12 * scale, front.y + front.height / 2 - 12 * scale];
  const paint = { fill: BRICK.edge, stroke: INK, 'stroke-width': 1.7 };
  return placed(x, y, scale, scale, path(LUCIDE.shield, paint));
}

/** A drum with a wall before it. */
function guarded(area: Area): Markup {
  const wall = { x: area.width * 0.36, y: area.height * 0.52, width: area.width * 0.5, height: area.height * 0.46 };
  return router()({ ...area, height: area.height - 4 }) + box(wall, 4, BRICK, (front) => bricks(front, 3));
}

function wirelessRouter(area: Area): Markup {
  const body = { x: 0, y: 12, width: area.width - 6, height: area.height - 12 };
  const x = area.width - 8;
  return (
    router()(body) +
    path(`M${x} 30v-21`, { fill: 'none', stroke: BLUE.edge, 'stroke-width': 2.4, 'stroke-linecap': 'round' }) +
    stroked(BLUE.side, 1.6, path(`M${x - 4} 9.5a5 5 0 0 1 0 -6M${x + 4} 9.5a5 5 0 0 0 0 -6M${x} 6.5h0.01`))
  );
}

function processor(area: Area): Markup {
  const base = { ...area, y: 20, height: area.height - 20 };
  return (
    cube((front) => mark(path(SWITCH), lower(front, 0.8), 24))(base) + router()({ x: 7, y: 0, width: 40, height: 31 })
  );
}

function printer({ width, height }: Area): Markup {
  const paper = { fill: '#ffffff', stroke: GRAY.edge, 'stroke-width': 1.2, 'stroke-linejoin': 'round' };
  return (
    path(`M17 27v-25h${width - 40}l6 6v19z`, paper) +
    path(`M${width - 23} 2v6h6`, paper) +
    stroked(GRAY.side, 1.4, path('M22 11h16M22 16h24M22 21h24')) +
    box({ x: 0, y: 18, width, height: height - 24 }, 8, GRAY, (front) => lamp(front.x + front.width - 6, front.y + 6)) +
    path(`M10 44h42l4 21h-50z`, paper) +
    stroked(GRAY.side, 1.4, path('M16 51h31M15 56h33')) +
    stroked(GRAY.edge, 2.2, path('M9 43.5h44'))
  );
}

function deskPhone({ width, height }: Area): Markup {
  const body = { fill: BLUE.front, stroke: BLUE.edge, 'stroke-width': 1.2, 'stroke-linejoin': 'round' };
  const keys = [0, 1, 2].flatMap((row) => [0, 1, 2].map((column) => `M${27 + column * 3.6} ${14 + row * 3.1}h0.01`));
  return (
    path(`M9 4h${width - 13}l3 ${height - 5}h-36l3 ${-height + 5}`, body) +
    path(
      `M2.5 2.5a2.6 2.6 0 0 1 2.6 -1.9h8a2.6 2.6 0 0 1 2.6 2.6v18a2.6 2.6 0 0 1 -2.6 2.6h-8a2.6 2.6 0 0 1 -2.6 -2.6v-3.5h5v-11.5h-5z`,
      {
        ...body,
        fill: BLUE.top,
      },
    ) +
    element('rect', { x: 21, y: 6, width: 13, height: 4.6, fill: '#dcebfa', stroke: BLUE.edge, 'stroke-width': 0.9 }) +
    stroked(INK, 1.9, path(keys.join('')))
  );
}

const DRAWINGS: Record<ClassicName, Draw> = {
  PBX: cube((front) => label('PBX', lower(front, 0.45), 8) + mark(HANDSET, upper(front, 0.68), 19)),
  PIX_firewall: (area) =>
    box(area, 10, BRICK, (front) => {
      const sign = { x: front.x + 14, y: front.y + 9.5, width: front.width - 28, height: front.height - 19 };
      return bricks(front, 4) + element('rect', { ...sign, rx: 2, fill: BRICK.edge }) + label('PIX', sign, 9);
    }),
  access_point: slab((front) => waves(front)),
  access_server: cube((front) => mark(path(EXCHANGE), upper(front, 0.66), 26) + mark(HANDSET, lower(front, 0.52), 15)),
  asa: (area) => box(area, 10, BRICK, (front) => bricks(front, 6) + shield(front)),
  atm_bridge: slab((front) => label('ATM', front, 9) + wide('M-26 0h8M18 0h8M-23 -3l-3 3l3 3M23 -3l3 3l-3 3', front)),
  atm_switch: cube((front) => mark(path(EXCHANGE), upper(front, 0.72), 27) + label('ATM', lower(front, 0.42), 7.5)),
  call_manager: (area) =>
    box(
      area,
      10,
      BLUE,
      (front) => mark(HANDSET, left(front, 0.46), 23, 1.9) + mark(path(LUCIDE.settings), right(front, 0.56), 23),
    ),
  cloud: cloud(() => ''),
  computer: guest('', 20),
  docker_guest: guest(path(LUCIDE.container)),
  dslam: cube((front) => mark(GLYPHS.dslam, front, 34, 1.8)),
  edge_label_switch_router: router(
    (front) => mark(path(LUCIDE.tag), left(front), 13, 1.5) + mark(path(EDGE_ARROW), right(front), 13, 1.5),
  ),
  ethernet_switch: slab((front) =>
    wide('M-22 -4h20M-6 -7l4 3l-4 3M22 -4h-20M2 4h20M18 1l4 3l-4 3M-2 4h-20M-18 1l-4 3l4 3', front),
  ),
  firewall: (area) => box(area, 10, BRICK, (front) => bricks(front, 4)),
  frame_relay_switch: cube(
    (front) => mark(path(EXCHANGE), upper(front, 0.72), 27) + label('FR', lower(front, 0.42), 7.5),
  ),
  gateway: router((front) => mark(path(GATE), front, 19)),
  hub: slab((front) => wide('M-22 0h44M-18 -4l-4 4l4 4M18 -4l4 4l-4 4', front)),
  ids: cube((front) => mark(path(LUCIDE.eye), front, 31, 1.9)),
  iosv_l2_virl: cube(
    (front) => mark(path(LUCIDE.cloud), upper(front, 0.6), 20, 1.5) + mark(path(EXCHANGE), lower(front, 0.52), 22),
  ),
  iosv_virl: router((front) => mark(path(LUCIDE.cloud), front, 22)),
  ip_phone: deskPhone,
  label_switch_router: router((front) => mark(path(LUCIDE.tag), front, 18)),
  lightweight_ap: slab((front) => waves(left(front)) + wide('M4 0h17M17 -4l4 4l-4 4', front)),
  multilayer_switch: cube((front) => mark(path(MULTILAYER), front, 32)),
  nat: cloud(
    (area) =>
      mark(path(EXCHANGE), { ...area, y: 6, height: 60 }, 40, 2.8, BLUE.side) +
      label('NAT', { ...area, y: 48, height: 18 }, 11, BLUE.side),
  ),
  optical_router: router((front) => mark(GLYPHS.optical, front, 20)),
  printer,
  qemu_guest: guest(path(LUCIDE.cpu)),
  route_switch_processor: processor,
  'router.awp': wirelessRouter,
  router: router(),
  router_firewall: guarded,
  router_netflow: router((front) => mark(path(FLOW), front, 20)),
  server: tower((front) => drives(front) + lamp(front.x + front.width - 7, front.y + front.height - 8) + grille(front)),
  sip_server: tower((front) => drives(front) + label('SIP', lower(front, 0.4), 8, GRAY.edge)),
  traceng: guest(path(LUCIDE.route)),
  vbox_guest: guest(path(LUCIDE.box)),
  vmware_guest: guest(path(LUCIDE.boxes), 26),
  voice_access_server: cube(
    (front) => mark(path(EXCHANGE), upper(front, 0.66), 26) + label('V', lower(front, 0.5), 12),
  ),
  voice_router: router((front) => label('V', front, 10)),
  vpcs_guest: guest(path(TERMINAL)),
  wlan_controller: slab(
    (front) => waves(left(front, 0.4)) + wide('M0 -4h22M18 -7l4 3l-4 3M22 4h-22M4 1l-4 3l4 3', front),
  ),
};

export function classicSymbol({ name, size: { width, height } }: BuiltinSymbol & { set: 'classic' }): string {
  return document(width, height, DRAWINGS[name]({ x: 0, y: 0, width, height }));
}
