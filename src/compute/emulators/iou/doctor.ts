// Checks the requirements of IOU images on this host: loaders for 32-bit and 64-bit programs, and a licence.
import { readFile } from 'node:fs/promises';
import { Failure } from '../../../failures.ts';
import { exists } from '../../../host/files/exists.ts';
import { ok, warning } from '../../../host/values/check-result.ts';
import type { HostCheck } from '../../nodes/kind.ts';
import { checkLicence, findLicence } from './licence.ts';

const LOADERS = { 32: '/lib/ld-linux.so.2', 64: '/lib64/ld-linux-x86-64.so.2' } as const;
/** Frames that images can queue in the kernel for each other. With fewer, the fabric has to retry often. */
const FEW_DATAGRAMS = 10;

async function loaders(): Promise<string> {
  const there = [];
  for (const [bits, path] of Object.entries(LOADERS)) if (await exists(path)) there.push(bits);
  if (there.length === 0) return 'not on this processor';
  return there.length === 2
    ? 'images of 32 and 64 bits'
    : `images of ${there[0]} bits; for 32 bits, apt install libc6:i386`;
}

export const iouHost: HostCheck = {
  subject: 'IOU',
  see: 'iou#what-is-looked-at-before-a-start',
  async examine({ IOU: { iourc_path: configured, license_check: isChecked } }) {
    const length = Number(await readFile('/proc/sys/net/unix/max_dgram_qlen', 'utf8').catch(() => ''));
    const queue =
      length > 0 && length <= FEW_DATAGRAMS ? '; more frames at once with sysctl net.unix.max_dgram_qlen=512' : '';
    const images = `${await loaders()}${queue}`;
    if (!isChecked) return ok(`${images}; licences are not looked at`);
    let path: string | undefined;
    try {
      path = await findLicence({ configured });
      await checkLicence(path);
      return ok(`${images}; licence ${path}`);
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown;
      if (path === undefined && configured === '')
        return ok(`${images}; no licence here yet: clients submit one, or iourc_path in section [IOU] names it`);
      const [problem = '', fix = 'correct it'] = thrown.message.replace(/\.$/, '').split('; ');
      return warning(problem, fix);
    }
  },
};
