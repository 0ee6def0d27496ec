// Checks the native code that is loaded at run time.
import { messageOf } from '../failures.ts';
import { isPackaged } from '../host/files/assets.ts';
import { compileFilter } from '../host/network/libpcap.ts';
import { useAddonDirectory } from '../host/processes/addons.ts';
import { loadKoffi } from '../host/system-calls/koffi.ts';
import { commands, missing, ok, warning } from '../host/values/check-result.ts';
import type { Check } from './check.ts';

export const libpcap: Check = {
  subject: 'libpcap',
  see: 'install#native-code',
  async examine() {
    try {
      await compileFilter('icmp');
      return ok('links can filter packets by BPF expressions');
    } catch (thrown) {
      return warning(
        `links cannot filter packets by BPF expressions: ${messageOf(thrown)}`,
        commands('apt install libpcap0.8'),
      );
    }
  },
};

export const addons: Check = {
  subject: 'native addons',
  see: 'install#native-code',
  async examine({ addonDirectory }) {
    if (addonDirectory) useAddonDirectory(addonDirectory);
    try {
      loadKoffi();
      await Promise.all([import('sqlite3'), import('node-pty')]);
      return ok(`koffi, node-pty and sqlite3 load${isPackaged() ? ' from this executable' : ''}`);
    } catch (thrown) {
      const fix = isPackaged()
        ? 'set LABWIRE_ADDON_DIR to a directory that can be written and is not mounted noexec'
        : 'npm ci, then npm run addons';
      return missing(messageOf(thrown).replace(/\n.*/s, ''), fix);
    }
  },
};
