// Programs in the place of VBoxManage and vmrun, which note what they are told.
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A program of the given text, where it is to be. */
export function script(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o700);
  return path;
}

export const UUID = '01234567-89ab-cdef-0123-456789abcdef';

/** What the program in a directory was told since the last call. */
export function callsIn(directory: string): string[] {
  const path = join(directory, 'calls');
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  writeFileSync(path, '');
  return lines.map((line) => line.replaceAll(UUID, 'UUID'));
}

/** A serial port on which its machine says all that it hears, until it is ended. */
export async function serialPort(t: TestContext, path: string): Promise<{ end(): void }> {
  mkdirSync(dirname(path), { recursive: true });
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  server.listen(path);
  await once(server, 'listening');
  const end = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.after(end);
  return { end };
}

/**
 * Notes what it is told, and answers as VirtualBox 7 does of one machine whose second adapter its user has attached to NAT. The file `state`
 * holds the machine's state, `info` and `hdds` what a clone adds to the answers.
 */
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
showvminfo*) printf 'name="web"\nUUID="%s"\nmemory=512\nchipset="piix3"\nVMState="%s"\nnic1="null"\nnic2="nat"\n' ${UUID} "$(cat state)"
  [ ! -e info ] || cat info ;;
'list hdds') cat hdds ;;
clonevm*)
  mkdir -p "${'$'}{10}/$8/Snapshots"
  echo > "${'$'}{10}/$8/$8.vbox"
  printf 'CfgFile="%s"\n"SATA-0-0"="%s"\n"SATA-ImageUUID-0-0"="3"\n' "${'$'}{10}/$8/$8.vbox" "${'$'}{10}/$8/Snapshots/{3}.vdi" > info ;;
unregistervm*) rm info ;;
registervm*) printf 'CfgFile="%s"\n' "$2" > info ;;
startvm*) [ ! -e full ] || { echo 'VBoxManage: error: no memory' >&2; exit 1; }; echo running > state ;;
*' poweroff') echo poweroff > state ;;
*' acpipowerbutton') grep -q running state || { echo 'VBoxManage: error: not running' >&2; exit 1; }; echo aborted > state ;;
*' savestate') echo saved > state ;;
*' pause') echo paused > state ;;
*' resume') echo running > state ;;
'guestproperty get '*) echo 'Value: yes' ;;
esac
`;

/** The same for vmrun, and its product. The file `running` holds the path of the machine that runs. */
export const VMRUN = `#!/bin/sh
cd "$(dirname "$0")"
[ $# = 0 ] && { echo 'vmrun version 1.17.0 build-1'; exit 255; }
echo "$*" >> calls
case "$3" in
list) echo 'Total running VMs:'; [ ! -e running ] || cat running ;;
start) echo "$4" > running ;;
stop|suspend) rm running ;;
esac
`;

export const VMWARE = '#!/bin/sh\necho "VMware Workstation 16.2.0 build-1"\n';
