// Routes that only release 3.0.6 has, or has in another form: the bodies and the routes.
import * as v from 'valibot';
import { NewDisk } from '../kinds/qemu.ts';
import type { ProjectObject } from '../objects.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const IouLicence = v.object({ iourc_content: v.string(), license_check: v.boolean() });

export const Version = v.object({ version: v.string(), local: v.optional(v.nullable(v.boolean())) });

export const NewVersion = v.object({
  name: v.string(),
  images: v.optional(v.record(v.string(), v.string())),
  idlepc: v.optional(v.string()),
});

// biome-ignore format: a table
export const V3_ROUTES = {
  'POST /v3/version':
    { access: 'read', open: true, unaudited: true, body: Version, answer: answers<{ version: string }>(),
      summary: 'Check that a client is of the same release' },
  'GET /v3/version':
    { access: 'read', open: true, answer: answers<{ controller_host: string; version: string; local: boolean }>(),
      summary: 'Release that this server speaks' },
  'POST /v3/computes/{compute_id}/connect': { status: 204, summary: 'Connect to a compute' },
  'GET /v3/iou_license': { answer: answers<object>(), summary: 'Read the IOU licence' },
  'PUT /v3/iou_license':
    { body: IouLicence, status: 201, answer: answers<object>(), summary: 'Update the IOU licence' },
  'GET /v3/projects': { access: 'read', answer: answers<ProjectObject[]>(), summary: 'List projects' },
  'DELETE /v3/computes/{compute_id}': { privilege: 'Compute.Allocate', status: 204, summary: 'Delete a compute' },
  'DELETE /v3/templates/{template_id}':
    { privilege: 'Template.Allocate', status: 204, summary: 'Delete a template',
      query: { prune_images: 'yes: with its images that no node and no other template uses' } },
  'GET /v3/images':
    { access: 'read', privilege: 'Image.Audit', answer: answers<object>(), summary: 'List images', errors: [422],
      query: { image_type: 'Only those of this type: qemu, ios or iou' } },
  'POST /v3/images/install':
    { privilege: 'Image.Allocate', status: 204, summary: 'Create templates of appliances whose images are complete' },
  'DELETE /v3/images/prune':
    { privilege: 'Image.Allocate', status: 204, summary: 'Delete all images that nothing uses' },
  'POST /v3/images/qemu/{path:.+}':
    { privilege: 'Image.Allocate', body: NewDisk, status: 201, answer: answers<object>(),
      summary: 'Create an empty disk image' },
  'POST /v3/images/upload/{path:.+}':
    { privilege: 'Image.Allocate', raw: true, status: 201, answer: answers<object>(),
      summary: 'Upload an image; its content says which type it has', errors: [408, 507],
      query: { install_appliances: 'yes: create templates of appliances whose images are complete now' },
      answerType: 'application/json' },
  'GET /v3/images/{path:.+}':
    { access: 'read', privilege: 'Image.Audit', answer: answers<object>(), summary: 'Read what is known of an image' },
  'DELETE /v3/images/{path:.+}':
    { privilege: 'Image.Allocate', status: 204, summary: 'Delete an image that nothing uses',
      errors: [400] },
  'GET /v3/appliances':
    { access: 'read', privilege: 'Appliance.Audit', answer: answers<object>(), summary: 'List appliances',
      errors: [404, 409],
      query: { update: 'yes: fetch the list again (refused)', symbol_theme: 'Theme that symbols are taken from' } },
  'GET /v3/appliances/{appliance_id}':
    { access: 'read', privilege: 'Appliance.Audit', answer: answers<object>(), summary: 'Read an appliance' },
  'POST /v3/appliances/{appliance_id}/version':
    { privilege: 'Appliance.Allocate', body: NewVersion, status: 201, answer: answers<object>(),
      summary: 'Add a version to an appliance until the list of appliances is read again', errors: [400] },
  'POST /v3/appliances/{appliance_id}/install':
    { privilege: 'Appliance.Allocate', status: 204, summary: 'Create a template of an appliance', errors: [400],
      query: { version: 'Version of the appliance, if it has some' } },
  'GET /v3/notifications':
    { access: 'read', summary: 'Notification stream of the controller, a line per event',
      answerType: 'application/json' },
  'GET /v3/notifications/ws': { access: 'read', socket: true, summary: 'Notification stream of the controller' },
  'GET /v3/projects/{project_id}/notifications':
    { access: 'watch', privilege: 'Project.Audit', summary: 'Notification stream of a project, a line per event',
      answerType: 'application/json' },
  'GET /v3/projects/{project_id}/notifications/ws':
    { access: 'watch', privilege: 'Project.Audit', socket: true, summary: 'Notification stream of a project' },
} as const satisfies RouteDefinitions;
