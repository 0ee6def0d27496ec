#!/bin/sh
# Boots systemd as process 1 of namespaces of its own, over a writable copy of this host's root, with Labwire installed as a service
# by bin/install, or without ("bare").
#   unshare --mount --propagation private --net --uts --ipc --pid --fork test/system/boot-systemd.sh DIRECTORY installed|bare
# Of it stays an empty control group, which has the name of DIRECTORY. Exit code 77: it cannot be done here, for the reason in the last line.
set -eu
project=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
place=$1
cannot() {
  printf '%s\n' "$*" >&2
  exit 77
}

# An overlay's upper part must not be on an overlay, which the root of a container is.
mount -t tmpfs tmpfs "$place" || cannot 'no file system can be mounted'
mkdir "$place/upper" "$place/work" "$place/root" "$place/groups"
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root" || cannot 'no overlay can be mounted'
root=$place/root

# A control group for this system: what it makes is below.
group=$(basename "$place")
mount -t cgroup2 cgroup2 "$place/groups" || cannot 'no control groups of version 2 can be mounted'
mkdir "$place/groups/$group" || cannot 'no control group can be made'
echo $$ >"$place/groups/$group/cgroup.procs" || cannot 'a control group cannot be entered'

mount -t proc proc "$root/proc"
# Read-only: no service of systemd changes the kernel or the devices of this host then.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
while read -r name major minor; do
  mknod -m 666 "$root/dev/$name" c "$major" "$minor" || cannot 'no device node can be made'
done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
ip link set lo up

[ "$2" = bare ] || "$project/bin/install" --root "$root" >&2
mkdir -p "$root/etc/systemd/system/labwired.service.d"
# The watchdog's minute is too long for a test.
printf '[Service]\nWatchdogSec=4\n' >"$root/etc/systemd/system/labwired.service.d/test.conf"
# Labwire and what it needs, none of this host's services.
printf '[Unit]\nWants=labwired.service\n' >"$root/etc/systemd/system/labwire-boot.target"

cd "$root"
mkdir -p old
pivot_root . old
# systemd wants to see its own control groups alone.
exec unshare --cgroup sh -c '
  mount -t cgroup2 cgroup2 /sys/fs/cgroup && umount -l /old &&
  exec env -i container=labwire PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=labwire-boot.target' <dev/null
