// /v2/compute/docker: the Engine's images and running pulls, and routes for containers only.
import * as v from 'valibot';
import { Text } from '../../../api/vocabulary.ts';
import { type Route, route } from '../../../http/app/route.ts';
import type { FindNode } from '../../nodes/kind.ts';
import type { DockerHost } from './docker-host.ts';
import type { DockerNode } from './node.ts';
import { fullImageName } from './settings.ts';

const ImageName = v.strictObject({ image: Text });

export function engineRoutes({ engine, pulls }: DockerHost): Route[] {
  return [
    route('GET /v2/compute/docker/images', { summary: 'List images of the Docker Engine', errors: [409] }, async () => {
      const found = await engine.call<{ RepoTags: string[] | null }[]>('GET', 'images/json?all=0');
      const names = found.flatMap(({ RepoTags }) => RepoTags ?? []).filter((name) => name !== '<none>:<none>');
      return names.sort().map((image) => ({ image }));
    }),
    route('GET /v2/compute/docker/pulls', { summary: 'List images that are being pulled (an extension)' }, () =>
      pulls.list(),
    ),
    route(
      'POST /v2/compute/docker/pulls/cancel',
      { body: ImageName, status: 204, summary: 'Cancel the pull of an image (an extension)', errors: [404] },
      ({ body }) => pulls.cancel(fullImageName(body.image)),
    ),
  ];
}

export function containerRoutes(find: FindNode<DockerNode>): Route[] {
  const path = '/v2/compute/projects/{project_id}/docker/nodes/{node_id}';
  return [
    route(`POST ${path}/pause`, { status: 204, summary: 'Suspend a container' }, ({ params }) =>
      find(params).suspend(),
    ),
    route(
      `POST ${path}/checkpoint`,
      {
        concurrent: true,
        status: 204,
        summary: 'Copy what a container has written outside its volumes (an extension)',
        query: { stopped: 'yes: also of a container that does not run' },
        errors: [409, 507],
      },
      ({ params, query }) => find(params).checkpoint(query['stopped'] === 'yes'),
    ),
    route(`POST ${path}/unpause`, { status: 204, summary: 'Resume a container' }, ({ params }) =>
      find(params).resume(),
    ),
  ];
}
