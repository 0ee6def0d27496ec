// Checks the requirements of containers on this host.
import { existsSync } from 'node:fs';
import { Failure } from '../../../failures.ts';
import { type Capability, lackedBy } from '../../../host/processes/capabilities.ts';
import { commands, ok, warning } from '../../../host/values/check-result.ts';
import type { HostCheck } from '../../nodes/kind.ts';
import { Engine } from './engine.ts';
import { findBusybox } from './helper-files.ts';

/** Needed to create interfaces in the network of a container. */
const NEEDED: readonly Capability[] = ['CAP_NET_ADMIN', 'CAP_SYS_ADMIN', 'CAP_SYS_PTRACE'];

export const engineCheck: HostCheck = {
  subject: 'Docker',
  see: 'docker#rights',
  async examine({ Docker: { socket_path: path } }, daemon) {
    if (!existsSync(path)) return ok(`no Engine at ${path}: for containers, apt install docker.io busybox-static`);
    try {
      const version = await new Engine(path).version();
      if ((await findBusybox()) === undefined) {
        return warning(
          `Docker ${version}, but no static busybox: containers do not start`,
          commands('apt install busybox-static'),
        );
      }
      const lacking = lackedBy(daemon ?? 'self', NEEDED);
      if (lacking.length === 0) return ok(`containers are run by Docker ${version} at ${path}`);
      const problem = `Docker ${version}, but the server has no ${lacking.join(', ')}: containers do not start`;
      return warning(problem, 'run the server as root, or give it these as docs/docker.md says (Rights)');
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = 'see docs/docker.md'] = thrown.message.split(': ');
      return warning(problem, fix);
    }
  },
};
