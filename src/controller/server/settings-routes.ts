import { SERVER_ROUTES } from '../../api/routes/server.ts';
import { conflict, notFound } from '../../failures.ts';
import { type Route, routesOf } from '../../http/app/route.ts';
import type { ServerSettings } from './settings.ts';

const { route } = routesOf(SERVER_ROUTES);

/** Engines that clients know; none of them can be controlled from a lab host. */
const ENGINES = [
  { engine_id: 'vmware', name: 'VMware', support_when_exit: true, support_headless: true, support_ram: true },
  { engine_id: 'virtualbox', name: 'VirtualBox', support_when_exit: true, support_headless: true, support_ram: true },
  { engine_id: 'remote', name: 'Remote', support_when_exit: false, support_headless: false, support_ram: false },
].map((engine) => ({ ...engine, description: 'Not available: this server runs its labs on the lab host itself.' }));

const NO_VM = 'This server has no GNS3 VM: labs run on the lab host itself. Register other hosts as computes instead.';

export function settingsRoutes(settings: ServerSettings): Route[] {
  return [
    route('GET /v2/iou_license', () => settings.get('iou_license')),

    route('PUT /v2/iou_license', ({ body }) => settings.update('iou_license', body)),

    route('GET /v2/gns3vm', () => settings.get('gns3vm')),

    route('PUT /v2/gns3vm', ({ body }) => {
      if (body.enable) throw conflict(`enable: ${NO_VM}`);
      return settings.update('gns3vm', body);
    }),

    route('GET /v2/gns3vm/engines', () => ENGINES),

    route('GET /v2/gns3vm/engines/{engine}/vms', ({ params }) => {
      if (ENGINES.some(({ engine_id: id }) => id === params.engine)) return [];
      throw notFound(`engine: there is no engine "${params.engine}".`);
    }),
  ];
}
