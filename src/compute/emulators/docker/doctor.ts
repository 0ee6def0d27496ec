// What containers need of this host.
import { existsSync } from 'node:fs';
import { Failure } from '../../../failures.ts';
import { ok, warning } from '../../../host/verdict.ts';
import type { HostCheck } from '../../nodes/kind.ts';
import { Engine } from './engine.ts';
import { findBusybox } from './helper-files.ts';

export const engineCheck: HostCheck = {
  subject: 'Docker',
  async examine({ Docker: { socket_path: path } }) {
    if (!existsSync(path)) return ok(`no Engine at ${path}: for containers, apt install docker.io busybox-static`);
    try {
      const version = await new Engine(path).version();
      if ((await findBusybox()) !== undefined) return ok(`containers are run by Docker ${version} at ${path}`);
      return warning(`Docker ${version}, but no static busybox: containers do not start`, 'apt install busybox-static');
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      const [problem = '', fix = 'see docs/docker.md'] = thrown.message.split(': ');
      return warning(problem, fix);
    }
  },
};
