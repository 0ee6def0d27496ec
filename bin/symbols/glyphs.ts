// What the symbols show: line drawings in a square of 24 units, to be stroked with a line of some two units.
import type { AffinityName } from '../../src/controller/symbols/catalogue.ts';
import { word } from './letters.ts';
import { LUCIDE } from './lucide-glyphs.ts';
import { group, type Markup, path, placed } from './svg.ts';

/** The glyph within another: centred at (x, y), `size` units wide, with lines a little thinner than around it. */
function inset(glyph: Markup, x: number, y: number, size: number): Markup {
  const scale = size / 24;
  return placed(x - size / 2, y - size / 2, scale, scale, group({ 'stroke-width': 1.5 / scale }, glyph));
}

const MONITOR = path(LUCIDE.monitor);
const CLOUD = path(LUCIDE.cloud);

/** One way and back. */
export const EXCHANGE = 'M3 4h18M18 1l3 3l-3 3M21 10.5h-18M6 7.5l-3 3l3 3';
/** Packets come in from the sides and leave for other networks. */
export const ROUTE =
  'M2 12h7.5M6.5 9l3 3l-3 3M22 12h-7.5M17.5 9l-3 3l3 3M12 9.5v-7.5M9 5l3 -3l3 3M12 14.5v7.5M9 19l3 3l3 -3';
/** Every frame to the one port that it is for. */
export const SWITCH =
  'M4 5h16M17 2l3 3l-3 3M20 9.7h-16M7 6.7l-3 3l3 3M4 14.3h16M17 11.3l3 3l-3 3M20 19h-16M7 16l-3 3l3 3';
/** Every frame to every port. */
const HUB =
  'M9 12a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M15 12h3M6 12h3M13.5 9.4l1.6 -2.8M8.9 17.4l1.6 -2.8M10.5 9.4l-1.6 -2.8M15.1 17.4l-1.6 -2.8' +
  'M18 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M2 12a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M14.1 4.9a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M5.9 4.9a2 2 0 1 0 4 0a2 2 0 1 0 -4 0' +
  'M14.1 19.1a2 2 0 1 0 4 0a2 2 0 1 0 -4 0M5.9 19.1a2 2 0 1 0 4 0a2 2 0 1 0 -4 0';
/** Switches by what is in the packets. */
export const MULTILAYER =
  'M12 8.5v-7M9.8 3.7l2.2 -2.2l2.2 2.2M12 15.5v7M9.8 20.3l2.2 2.2l2.2 -2.2M8.5 12h-7M3.7 9.8l-2.2 2.2l2.2 2.2M15.5 12h7M20.3 9.8l2.2 2.2l-2.2 2.2' +
  'M9.2 9.2l-4.9 -4.9M4.3 7v-2.7h2.7M14.8 9.2l4.9 -4.9M17 4.3h2.7v2.7M9.2 14.8l-4.9 4.9M4.3 17v2.7h2.7M14.8 14.8l4.9 4.9M17 19.7h2.7v-2.7';
export const HANDSET = path(LUCIDE.phone);

const HELIX =
  'M6 1.5c0 7 12 5.5 12 10.5s-12 3.5 -12 10.5M18 1.5c0 7 -12 5.5 -12 10.5s12 3.5 12 10.5M7 4.5h10M6.3 12h11.4M7 19.5h10';

/** A prompt. */
export const TERMINAL = 'M4 6l6 6l-6 6M13 19h8';
/** The same as solid arrows, to lie on a drum. */
export const ROUTE_ARROWS =
  'M0.5 10.2h5v-2.7l5.2 4.5l-5.2 4.5v-2.7h-5zM23.5 10.2h-5v-2.7l-5.2 4.5l5.2 4.5v-2.7h5zM10.2 9v-3.8h-2.7l4.5 -5.2l4.5 5.2h-2.7v3.8zM10.2 15v3.8h-2.7l4.5 5.2l4.5 -5.2h-2.7v-3.8z';
/** Through the wall to another network. */
export const GATE = 'M12 2v5M12 17v5M2 12h20M5.5 8.5l-3.5 3.5l3.5 3.5M18.5 8.5l3.5 3.5l-3.5 3.5';
/** From the core of a network to its edge. */
export const EDGE_ARROW = 'M3 12h12M11 8l4 4l-4 4M20 3v18';
/** What passes, counted. */
export const FLOW = 'M2 8c3.3 -4 6.7 -4 10 0s6.7 4 10 0M2 16c3.3 -4 6.7 -4 10 0s6.7 4 10 0';

/** The pictures of the affinity sets. */
export const GLYPHS: Record<AffinityName, Markup> = {
  atm: path(EXCHANGE) + word('ATM', 12, 19.8, 6),
  bug: path(LUCIDE.bug),
  camera: path(LUCIDE.camera),
  camera_dome: path('M2 4h20v3.5h-20zM4 7.5v3a8 8 0 0 0 16 0v-3M9 11.5a3 3 0 1 0 6 0a3 3 0 1 0 -6 0'),
  client: MONITOR,
  client_vm: MONITOR + word('VM', 12, 10, 5.5, 1.5),
  cloud: CLOUD,
  coffee: path(LUCIDE.coffee),
  cog: path(LUCIDE.settings),
  communications: path(LUCIDE['radio-tower']),
  conversation: path(LUCIDE['messages-square']),
  dna: path(HELIX),
  dna2: group({ transform: 'rotate(50 12 12)' }, path(HELIX)),
  docker: path(LUCIDE.container),
  dslam:
    path(
      'M4 2h16a1 1 0 0 1 1 1v8a1 1 0 0 1 -1 1h-16a1 1 0 0 1 -1 -1v-8a1 1 0 0 1 1 -1zM12 12v3M4 21v-3a3 3 0 0 1 3 -3h10a3 3 0 0 1 3 3v3M9.3 15v6M14.7 15v6',
    ) + word('DSL', 12, 7, 4.8, 1.2),
  factory: path(LUCIDE.factory),
  fingerprint: path(LUCIDE['fingerprint-pattern']),
  firewall: path(LUCIDE['brick-wall']),
  firewall3: path(LUCIDE['brick-wall-fire']),
  globe: path(LUCIDE.globe),
  grid: path(LUCIDE['grid-3x3']),
  grid2: path(LUCIDE['layout-grid']),
  health: path(LUCIDE['heart-pulse']),
  house: path(LUCIDE.house),
  hub: path(HUB),
  inspect: path(LUCIDE.search),
  inspect2: path(LUCIDE['scan-search']),
  interconnect: path(LUCIDE.waypoints),
  ip_phone: path(
    'M2 5.5a2 2 0 0 1 4 0v13a2 2 0 0 1 -4 0zM6 7h3M6 17h3M10 3h11a1 1 0 0 1 1 1v16a1 1 0 0 1 -1 1h-11a1 1 0 0 1 -1 -1v-16a1 1 0 0 1 1 -1zM12.5 6.5h6v4h-6zM12.7 14.5h.01M15.5 14.5h.01M18.3 14.5h.01M12.7 17.7h.01M15.5 17.7h.01M18.3 17.7h.01',
  ),
  isdn: path(EXCHANGE) + word('ISDN', 12, 19.8, 6),
  laptop: path(LUCIDE.laptop),
  ldap: path(LUCIDE['book-user']),
  light_bulb: path(LUCIDE.lightbulb),
  link: path(LUCIDE['link-2']),
  loadbalancer: path(
    'M1.5 12h3.5M5 12a3 3 0 1 0 6 0a3 3 0 1 0 -6 0M11 12h11.5M20 9.5l2.5 2.5l-2.5 2.5M9.8 9.6l5.7 -6.1h7M20 1l2.5 2.5l-2.5 2.5M9.8 14.4l5.7 6.1h7M20 18l2.5 2.5l-2.5 2.5',
  ),
  nas: path(
    'M5 2h14a2 2 0 0 1 2 2v16a2 2 0 0 1 -2 2h-14a2 2 0 0 1 -2 -2v-16a2 2 0 0 1 2 -2zM3 8.7h18M3 15.3h18M7 5.4h6M7 12h6M7 18.6h6M17 5.4h.01M17 12h.01M17 18.6h.01',
  ),
  nat: path(EXCHANGE) + word('NAT', 12, 19.8, 6),
  nat2: path('M12 2v2.5M12 7.5v1M12 11.5v1M12 15.5v1M12 19.5v2.5M3 8h18M17 4l4 4l-4 4M21 16h-18M7 12l-4 4l4 4'),
  office: path(LUCIDE.building),
  optical: path(
    'M2 12h20M18.8 8.8l3.2 3.2l-3.2 3.2M10 3v4.5M10 16.5v4.5M4.3 6.3l2.8 2.8M12.9 14.9l2.8 2.8M15.7 6.3l-2.8 2.8M7.1 14.9l-2.8 2.8',
  ),
  phone_cloud: CLOUD + inset(HANDSET, 11, 13, 8),
  phone_old: path(
    'M2.5 9c0 -7.5 19 -7.5 19 0v1.5h-4.5v-2.5c-3 -1 -7 -1 -10 0v2.5h-4.5zM7.5 10.5l-3.7 8.5a1.5 1.5 0 0 0 1.4 2h13.6a1.5 1.5 0 0 0 1.4 -2l-3.7 -8.5M9.3 15.5a2.7 2.7 0 1 0 5.4 0a2.7 2.7 0 1 0 -5.4 0',
  ),
  phone_wireless: path(LUCIDE['phone-call']),
  pinpoint: path(LUCIDE['map-pin']),
  printer: path(LUCIDE.printer),
  rj45: path(LUCIDE['ethernet-port']),
  router: path(ROUTE),
  router2: path(LUCIDE.router),
  router_cloud: CLOUD + inset(path('M5 7h14M14 2l5 5l-5 5M19 17h-14M10 12l-5 5l5 5'), 11.5, 13.2, 9),
  satellite: path(LUCIDE.satellite),
  satellite_dish: path(LUCIDE['satellite-dish']),
  scull: path(LUCIDE.skull),
  server: path(LUCIDE.server),
  server_cluster: path(
    'M3 3h6a1 1 0 0 1 1 1v16a1 1 0 0 1 -1 1h-6a1 1 0 0 1 -1 -1v-16a1 1 0 0 1 1 -1zM15 3h6a1 1 0 0 1 1 1v16a1 1 0 0 1 -1 1h-6a1 1 0 0 1 -1 -1v-16a1 1 0 0 1 1 -1zM5 7h2M5 10.5h2M6 17h.01M17 7h2M17 10.5h2M18 17h.01M10 14h4',
  ),
  shield: path(LUCIDE.shield),
  statistics: path(LUCIDE['chart-column']),
  storage: path(LUCIDE.database),
  switch: path(SWITCH),
  switch_multilayer: path(MULTILAYER),
  tablet: path(LUCIDE.tablet),
  template: path(LUCIDE['layout-template']),
  tree: path(LUCIDE['tree-deciduous']),
  user: path(LUCIDE.user),
  virtualbox: path(LUCIDE.box),
  vm:
    path(
      'M4 3h16a2 2 0 0 1 2 2v14a2 2 0 0 1 -2 2h-16a2 2 0 0 1 -2 -2v-14a2 2 0 0 1 2 -2zM2 7.5h20M5.2 5.25h.01M8.2 5.25h.01',
    ) + word('VM', 12, 14.3, 6.5),
  vmware: path(LUCIDE.boxes),
  vrf:
    path('M12 2v4M5 11v-2a3 3 0 0 1 3 -3h8a3 3 0 0 1 3 3v2M2.5 8.7l2.5 2.5l2.5 -2.5M16.5 8.7l2.5 2.5l2.5 -2.5') +
    word('VRF', 12, 19, 7),
  wifi: path(LUCIDE.wifi),
  wlc: path(
    'M4 14h16a2 2 0 0 1 2 2v4a2 2 0 0 1 -2 2h-16a2 2 0 0 1 -2 -2v-4a2 2 0 0 1 2 -2zM6 18h.01M10 18h8M12 10.5h.01M8.8 7.6a4.5 4.5 0 0 1 6.4 0M5.6 4.6a9 9 0 0 1 12.8 0',
  ),
  xml: path(LUCIDE['code-xml']),
};
