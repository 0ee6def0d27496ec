// The routes of the API by method and pattern. Those of one kind of node are defined with the kind, pages with the pages, and those of release
// 3.0.6 that translate one of release 2.2.57 in src/controller/v3/routes.ts.
import { ACCESS_ROUTES } from './access.ts';
import { ACCOUNT_ROUTES } from './accounts.ts';
import { APPLIANCE_ROUTES } from './appliances.ts';
import { COMPUTE_SERVER_ROUTES } from './compute.ts';
import { COMPUTE_IMAGE_ROUTES } from './compute-images.ts';
import { COMPUTE_NODE_ROUTES } from './compute-nodes.ts';
import { COMPUTE_ROUTES } from './computes.ts';
import type { RouteDefinitions } from './definition.ts';
import { DRAWING_ROUTES } from './drawings.ts';
import { LINK_ROUTES } from './links.ts';
import { NODE_ROUTES } from './nodes.ts';
import { PLACEMENT_ROUTES } from './placement.ts';
import { PROJECT_ROUTES } from './projects.ts';
import { SERVER_ROUTES } from './server.ts';
import { SNAPSHOT_ROUTES } from './snapshots.ts';
import { SYMBOL_ROUTES } from './symbols.ts';
import { TEMPLATE_ROUTES } from './templates.ts';
import { V3_ROUTES } from './v3.ts';

export const ROUTES: RouteDefinitions = {
  ...ACCESS_ROUTES,
  ...ACCOUNT_ROUTES,
  ...APPLIANCE_ROUTES,
  ...COMPUTE_IMAGE_ROUTES,
  ...COMPUTE_NODE_ROUTES,
  ...COMPUTE_SERVER_ROUTES,
  ...COMPUTE_ROUTES,
  ...DRAWING_ROUTES,
  ...LINK_ROUTES,
  ...NODE_ROUTES,
  ...PLACEMENT_ROUTES,
  ...PROJECT_ROUTES,
  ...SERVER_ROUTES,
  ...SNAPSHOT_ROUTES,
  ...SYMBOL_ROUTES,
  ...TEMPLATE_ROUTES,
  ...V3_ROUTES,
};
