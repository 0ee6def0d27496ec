// The server itself: the bodies and the routes.
import * as v from 'valibot';
import { ControllerOperation, HostLoad, VersionObject } from '../objects.ts';
import { AnyObject, Integer } from '../vocabulary.ts';
import { answers, NODE_LOAD_QUERY, type RouteDefinitions } from './definition.ts';

export const Version = v.strictObject({ version: v.string(), local: v.optional(v.boolean()) });

export const IouLicense = AnyObject;

export const Gns3Vm = v.looseObject({
  enable: v.optional(v.boolean()),
  vmname: v.optional(v.nullable(v.string())),
  when_exit: v.optional(v.picklist(['stop', 'suspend', 'keep'])),
  headless: v.optional(v.boolean()),
  engine: v.optional(v.nullable(v.string())),
  allocate_vcpus_ram: v.optional(v.boolean()),
  vcpus: v.optional(Integer),
  ram: v.optional(Integer),
  port: v.optional(Integer),
});

export const TicketRequest = v.strictObject({ path: v.string() });

// biome-ignore format: a table
export const SERVER_ROUTES = {
  'GET /v2/version':
    { access: 'read', answer: answers(VersionObject),
      summary: 'Release that this server speaks' },
  'POST /v2/version':
    { access: 'read', unaudited: true, body: Version, answer: answers(v.object({ version: v.string() })),
      summary: 'Check that a client is of the same release' },
  'GET /v2/statistics':
    { access: 'read', answer: answers(v.array(HostLoad)), summary: 'Load of all computes', errors: [404, 409],
      query: NODE_LOAD_QUERY },
  'POST /v2/shutdown': { status: 201, summary: 'Stop the server (local mode only)', answerType: '' },
  'POST /v2/debug':
    { status: 201, summary: 'Write a report for people who help with problems (local mode only)', answerType: '' },
  'POST /v2/reload': { summary: 'Look for projects on the disk again' },
  'GET /v2/notifications':
    { access: 'read', summary: 'Notification stream of the controller, a line per event',
      answerType: 'application/json' },
  'GET /v2/notifications/ws': { access: 'read', socket: true, summary: 'Notification stream of the controller' },
  'GET /v2/iou_license': { answer: answers<object>(), summary: 'Read the IOU licence' },
  'PUT /v2/iou_license':
    { body: IouLicense, status: 201, answer: answers<object>(), summary: 'Update the IOU licence' },
  'GET /v2/gns3vm': { access: 'read', answer: answers<object>(), summary: 'Read the settings of the GNS3 VM' },
  'PUT /v2/gns3vm':
    { body: Gns3Vm, status: 201, answer: answers<object>(), summary: 'Update the settings of the GNS3 VM' },
  'GET /v2/gns3vm/engines': { access: 'read', answer: answers<object>(), summary: 'List engines of the GNS3 VM' },
  'GET /v2/gns3vm/engines/{engine}/vms': { answer: answers<object>(), summary: 'List virtual machines of an engine' },
  'GET /v2/operations':
    { access: 'read', answer: answers<object[]>(v.array(ControllerOperation)),
      summary: 'List long work under way on this server and its computes (an extension)',
      query: { project_id: 'Only that of this project' } },
  'DELETE /v2/operations/{operation_id}':
    { access: 'read', status: 204, summary: 'Cancel long work (an extension)', errors: [404, 409] },
  'POST /v2/tickets':
    { access: 'read', unaudited: true, body: TicketRequest, status: 201,
      answer: answers(v.object({ path: v.string(), ticket: v.string(), expires_in: Integer })),
      summary: 'Ticket for one opening of a WebSocket, as its query parameter ticket, within 30 s, from the same address (an extension)',
      errors: [503] },
} as const satisfies RouteDefinitions;
