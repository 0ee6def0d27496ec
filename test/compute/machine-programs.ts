// Programs in the place of VBoxManage and vmrun, which note what they are told.
import { chmodSync, writeFileSync } from 'node:fs';

/** A program of the given text, where it is to be. */
export function script(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o700);
  return path;
}

export const UUID = '01234567-89ab-cdef-0123-456789abcdef';

/** Notes what it is told, and answers as VirtualBox 7 does of one machine whose second adapter its user has attached to NAT. */
export const VBOX = String.raw`#!/bin/sh
cd "$(dirname "$0")"
[ "$1" = --nologo ] && [ "$LANG" = en ] || exit 9
shift
echo "$*" >> calls
[ -e broken ] && { echo "VBoxManage: error: it is broken" >&2; exit 1; }
case "$*" in
'list systemproperties') printf 'API version:                     7_0\nMaximum PIIX3 Network Adapter count:   8\n' ;;
'list vms') printf '"web" {%s}\n"<inaccessible>" {1}\n"copy" {2}\n' ${UUID} ;;
'getextradata copy '*) echo 'Value: yes' ;;
getextradata*) echo 'No value set!' ;;
showvminfo*) printf 'name="web"\nUUID="%s"\nmemory=512\nchipset="piix3"\nVMState="%s"\nnic1="null"\nnic2="nat"\n' ${UUID} "$(cat state)" ;;
startvm*) echo running > state ;;
*' poweroff') echo poweroff > state ;;
*' savestate') echo saved > state ;;
*' pause') echo paused > state ;;
*' resume') echo running > state ;;
'guestproperty get '*) echo 'Value: yes' ;;
esac
`;

/** The same for vmrun, and its product. */
export const VMRUN = `#!/bin/sh
cd "$(dirname "$0")"
[ $# = 0 ] && { echo 'vmrun version 1.17.0 build-1'; exit 255; }
echo "$*" >> calls
[ "$3" = list ] && echo 'Total running VMs: 0'
exit 0
`;

export const VMWARE = '#!/bin/sh\necho "VMware Workstation 16.2.0 build-1"\n';
