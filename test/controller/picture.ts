// All that a server has, as a text that two servers with the same labs have in common: identifiers become names, numbers of ports go.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow } from '../../src/host/files/relative-path.ts';
import type { Body } from '../body.ts';
import { threads } from './failing-awaits.ts';
import type { LabServer } from './lab-server.ts';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Of the server itself. */
const OWN_FILES = /^(labwire\.db|.*-wal$|.*-shm$|.*\.lock$)/;

export function filesBelow(directory: string, prefix = ''): string[] {
  return readdirSync(join(directory, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix ? `${prefix}/${entry.name}` : entry.name;
    return entry.isDirectory()
      ? [...(path.includes('.labwire') ? [path] : []), ...filesBelow(directory, path)]
      : [path];
  });
}

export interface Picture {
  /** What clients see, in the controller and at the compute. */
  labs: string;
  /** Paths of all files, and what the topology files say. */
  files: string[];
  /** What is taken: ports, and what the fabric's threads have. */
  taken: string;
}

export async function pictureOf(server: LabServer): Promise<Picture> {
  let picture = '';
  for (const end = Date.now() + 20_000; ; ) {
    const { settled, ...now } = await look(server);
    const text = JSON.stringify(now);
    // What the compute announces comes a little later than its answers.
    if ((settled && text === picture) || Date.now() > end) return now;
    picture = text;
  }
}

async function look(server: LabServer): Promise<Picture & { settled: boolean }> {
  const get = (path: string): Promise<Body> => server.expect(200, 'GET', path);
  const names = new Map<string, string>();
  const projects: Body[] = await get('/v2/projects');
  const labs: Body[] = [];
  for (const project of projects) {
    const path = `/v2/projects/${project.project_id}`;
    names.set(project.project_id, `<project ${project.name}>`);
    const [nodes, links, drawings, snapshots]: Body[][] = (await Promise.all(
      ['nodes', 'links', 'drawings', 'snapshots'].map((kind) => get(`${path}/${kind}`)),
    )) as [Body[], Body[], Body[], Body[]];
    for (const node of nodes) names.set(node.node_id, `<node ${node.name}>`);
    for (const { link_id: id, nodes: ends } of links) {
      names.set(id, `<link ${ends.map((end: Body) => `${names.get(end.node_id)} ${end.port_number}`).join(' to ')}>`);
    }
    for (const { drawing_id: id, x } of drawings) names.set(id, `<drawing at ${x}>`);
    for (const { snapshot_id: id, name } of snapshots) names.set(id, `<snapshot ${name}>`);
    const at =
      project.status === 'opened'
        ? await Promise.all(
            nodes.map(
              async (node) =>
                (
                  await server.call(
                    'GET',
                    `/v2/compute/projects/${project.project_id}/${node.node_type}/nodes/${node.node_id}`,
                  )
                ).json,
            ),
          )
        : [];
    labs.push({ project, nodes, links, drawings, snapshots, at });
  }
  const computes = (await get('/v2/computes')).map(
    ({
      cpu_usage_percent: _cpu,
      memory_usage_percent: _memory,
      connected: _c,
      last_error: _l,
      capabilities: _k,
      ...rest
    }: Body) => rest,
  );
  const templates = (await get('/v2/templates')).map(
    ({ template_id: id, name }: Body) => `${names.set(id, `<template ${name}>`) && name}`,
  );
  const hosted = await get('/v2/compute/projects');
  const debug = await get('/v2/compute/debug');
  const ports = await get('/v2/compute/network/ports');
  // What a file says of a node without a console is read as `none`.
  const plain = (text: string): string =>
    text
      .replaceAll(UUID, (id) => names.get(id) ?? '<unknown>')
      .replaceAll(/_\d{6}_\d{6}\.gns3project/g, '_<time>.gns3project')
      .replaceAll(/"(created_at|console)": ?\d+/g, '"$1": 0')
      .replaceAll('"console_type": null', '"console_type": "none"');
  const lists = { labs, computes, templates, hosted: hosted.map((one: Body) => JSON.stringify(one)).sort() };
  const summary = debug
    .slice(debug.indexOf('\nProjects'))
    .split('\n')
    .map((line: string) => plain(line))
    .sort();
  const files = filesBelow(server.state).filter((path) => !OWN_FILES.test(path));
  const closed = new Set(projects.filter(({ status }) => status === 'closed').map(({ path }) => path));
  const told = files.map((path) => {
    const isTopology =
      path.endsWith('.gns3') && [...closed].some((directory) => isBelow(directory, join(server.state, path)));
    return plain(isTopology ? `${path} ${readFileSync(join(server.state, path), 'utf8')}` : path);
  });
  const fabric = fabricFigures();
  const settled = labs.every(({ nodes, at }) =>
    at.every(
      (one: Body, index: number) =>
        one.status === nodes[index].status && (one.command_line ?? null) === nodes[index].command_line,
    ),
  );
  return {
    settled,
    labs: plain(JSON.stringify({ ...lists, summary }, undefined, 1)),
    files: told.sort(),
    taken: `console ports ${ports.console_ports.length}, UDP ports ${ports.udp_ports.length}, fabric ${fabric}`,
  };
}

/** What the fabric's threads have. */
export function fabricFigures(): string[] {
  return [...threads]
    .map(({ groups, listeners, captures }) => `${groups.members} ${listeners.size} ${captures.size}`)
    .filter((line) => line !== '0 0 0');
}
