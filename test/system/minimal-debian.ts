// A minimal system of this host's release, as debootstrap makes it, entered with a network of its own that has no route.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { cannotUnshare } from '../host/missing.ts';
import { missing } from './lab.ts';

const run = promisify(execFile);

/** Why there can be none, as far as that is seen without trying. */
export const skip =
  process.getuid?.() === 0
    ? missing('debootstrap', 'dpkg-deb') ||
      cannotUnshare('mount namespaces', '--net', '--mount', '--pid', '--fork', 'mount', '-t', 'proc', 'proc', '/proc')
    : 'only root can make a minimal Debian';

/** Makes it in `directory`; answers why this host cannot, where that is so. */
export async function makeDebian(directory: string): Promise<string | undefined> {
  const { VERSION_CODENAME: release = '' } = parseEnv(readFileSync('/etc/os-release', 'utf8'));
  const format = ['indextargets', '--format', '$(REPO_URI)', `Codename: ${release}`, 'Component: main'];
  const mirror = (await run('apt-get', format)).stdout.split('\n', 1)[0]!;
  mkdirSync(directory);
  return await run('debootstrap', ['--variant=minbase', release, directory, mirror], { maxBuffer: 2 ** 26 }).then(
    () => {
      // Nobody wants it back after a power failure.
      writeFileSync(join(directory, 'etc/dpkg/dpkg.cfg.d/unsafe-io'), 'force-unsafe-io\n');
      return undefined;
    },
    ({ stdout }: { stdout?: string }) => `debootstrap: ${stdout?.trim().split('\n').at(-1)}`,
  );
}

export interface Said {
  code: number;
  /** Standard output and error. */
  text: string;
}

const ENTER = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && ip link set lo up &&
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$0" sh -c "$1" 2>&1`;

/** Runs a line of shell in it, without a network. */
export async function within(directory: string, line: string): Promise<Said> {
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child'];
  return await run('unshare', [...namespaces, 'sh', '-c', ENTER, directory, line], { maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => ({ code: 0, text: stdout }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      text: error.stdout + error.stderr,
    }),
  );
}
