// The text of `GET /v2/compute/debug`: the state of this compute for support. No secrets.
import { release } from 'node:os';
import type { Config } from '../../config/schema.ts';
import { networkInterfaces } from '../../host/network/interfaces.ts';
import type { LoadMeter } from '../../host/processes/host-statistics.ts';
import type { Ports } from '../ports/ports.ts';
import type { Projects } from '../projects/projects.ts';

export async function debugReport(config: Config, projects: Projects, ports: Ports, load: LoadMeter): Promise<string> {
  const { version, local, projects_path: directory } = config.Server;
  const { heapUsed, rss } = process.memoryUsage();
  const interfaces = await networkInterfaces(config.Server.allowed_interfaces);
  const sections: Record<string, string[]> = {
    Server: [
      `API version ${version.v2.number}, local mode ${local ? 'on' : 'off'}`,
      `Linux ${release()} ${process.arch}, Node.js ${process.versions.node}`,
      `up ${Math.trunc(process.uptime())} s, resident ${rss} bytes, heap ${heapUsed} bytes`,
    ],
    Host: Object.entries(await load.statistics(directory)).map(([name, value]) => `${name} ${value}`),
    Interfaces: interfaces.map(({ name, ip_address, netmask }) => `${name} ${ip_address}/${netmask}`),
    Ports: [
      `console ${ports.console.range.join('-')}, used: ${ports.console.used.join(' ')}`,
      `UDP ${ports.udp.range.join('-')}, used: ${ports.udp.used.join(' ')}`,
    ],
    Projects: projects
      .list()
      .flatMap((project) => [
        `${project.id} ${project.name ?? ''} in ${project.path}`,
        ...project.summary().map(({ type, name, status }) => `  ${type} ${name}: ${status}`),
      ]),
  };
  return Object.entries(sections)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
}
