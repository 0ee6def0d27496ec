// Placement of nodes on hosts: the bodies and the routes.
import * as v from 'valibot';
import { ClusterObject, Drained, PlacementObject } from '../objects.ts';
import { AUTO_ID } from '../placement.ts';
import { AnyObject, NodeType, Text } from '../vocabulary.ts';
import { answers, type RouteDefinitions } from './definition.ts';

export const PlacementRequest = v.strictObject({
  nodes: v.array(
    v.strictObject({
      node_id: v.optional(Text),
      name: Text,
      node_type: NodeType,
      compute_id: v.optional(Text, AUTO_ID),
      properties: v.optional(AnyObject, {}),
    }),
  ),
  /** Pairs of names or ids of nodes. */
  links: v.optional(v.array(v.tuple([Text, Text])), []),
});
export type PlacementRequest = v.InferOutput<typeof PlacementRequest>;

// biome-ignore format: a table
export const PLACEMENT_ROUTES = {
  'POST /v2/placement':
    { access: 'use', body: PlacementRequest, answer: answers(PlacementObject),
      summary: 'Where the nodes of a lab would be placed, and why (an extension)', errors: [404, 409] },
  'POST /v2/projects/{project_id}/placement':
    { access: 'change', privilege: 'Node.Allocate', body: PlacementRequest, answer: answers(PlacementObject),
      summary: 'Where new nodes of a lab are to be placed, and why; holds for nodes created with these ids (an extension)',
      errors: [404, 409] },
  'GET /v2/projects/{project_id}/placement':
    { access: 'watch', privilege: 'Project.Audit', answer: answers(PlacementObject),
      summary: 'The host of each node, and why it was chosen (an extension)', errors: [404] },
  'GET /v2/cluster':
    { access: 'read', answer: answers(ClusterObject),
      summary: 'The hosts of the cluster: leases, roles, nodes and checkpoints (an extension)' },
  'POST /v2/computes/{compute_id}/drain':
    { answer: answers(Drained),
      summary: 'Take no new nodes on a host, and move its nodes to other hosts (an extension; admins)',
      query: { running: 'restart: stop running nodes, and start them on their new hosts; leave (default): they stay' },
      errors: [404, 409] },
  'POST /v2/computes/{compute_id}/undrain':
    { answer: answers<object>(), summary: 'Take new nodes on a host again (an extension; admins)', errors: [404, 409] },
} as const satisfies RouteDefinitions;
