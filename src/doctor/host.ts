// Checks the system: kernel, user, network buffers, terminals.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { release } from 'node:os';
import { systemCode } from '../failures.ts';
import { ownUser } from '../host/processes/own-user.ts';
import { commands, missing, ok, warning } from '../host/values/check-result.ts';
import type { Check } from './check.ts';
import { userName } from './directories.ts';
import { numberIn, textOf } from './kernel-files.ts';

/** The oldest Linux on which Node 24 is supported (its BUILDING.md). */
const OLDEST_KERNEL = [4, 18] as const;

export const kernel: Check = {
  subject: 'kernel',
  see: 'install#kernel-user-and-terminals',
  examine() {
    const [major = 0, minor = 0] = release().split('.').map(Number.parseFloat);
    const [oldMajor, oldMinor] = OLDEST_KERNEL;
    const detail = `Linux ${release()}`;
    if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return ok(detail);
    return warning(detail, `update the system: Linux ${OLDEST_KERNEL.join('.')} or newer is needed`);
  },
};

export const user: Check = {
  subject: 'user',
  see: 'install#kernel-user-and-terminals',
  examine({ daemon }) {
    // The running server's: the doctor is run as root on most hosts.
    const [, running] = /^Uid:\s+\d+\s+(\d+)/m.exec(textOf(`/proc/${daemon}/status`) ?? '') ?? [];
    const uid = running === undefined ? ownUser() : Number(running);
    if (uid !== 0) return ok(userName(uid));
    return warning(
      'root, and so are all nodes that it starts',
      'run the server as another user; bin/install makes one',
    );
  },
};

/** As src/fabric asks for each socket of a cable. */
const SOCKET_BUFFER_BYTES = 1 << 20;

export const socketBuffers: Check = {
  subject: 'socket buffers',
  see: 'install#limits',
  examine() {
    const names = ['net.core.rmem_max', 'net.core.wmem_max'];
    const sizes = names.map((name) => [name, numberIn(`/proc/sys/${name.replaceAll('.', '/')}`)] as const);
    const small = sizes.filter(([, size]) => size !== undefined && size < SOCKET_BUFFER_BYTES);
    const detail = sizes.map(([name, size]) => `${name} ${size?.toLocaleString('en') ?? 'unknown'}`).join(', ');
    if (small.length === 0) return ok(detail);
    const settings = small.map(([name]) => `${name}=${SOCKET_BUFFER_BYTES}`).join(' ');
    return warning(`${detail}: bursts on cables to other programs may lose frames`, commands(`sysctl -w ${settings}`));
  },
};

export const terminalDevice: Check = {
  subject: '/dev/ptmx',
  see: 'install#kernel-user-and-terminals',
  async examine() {
    const error = await access('/dev/ptmx', constants.R_OK | constants.W_OK).catch(systemCode);
    if (error === undefined) return ok('can be opened: consoles have their terminals');
    return missing(`cannot be opened (${error}): no node gets a console`, 'mount devpts, or give the container one');
  },
};
