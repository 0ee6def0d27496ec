#!/usr/bin/env bash
# Makes the guest of the tests: Debian's kernel for clouds and an initial file system of busybox, in test/guest/made (or the directory
# that is given). The kernel is downloaded by apt-get as a package and unpacked, not installed. Does nothing where all is there.
# Beside it initrd-agent.gz: the same, with Debian's QEMU guest agent (/agent/qemu-ga) and the modules for its channel and for ext4.
# The guest: a shell on ttyS0, eth0 (virtio-net-pci) with the address of ip= in the kernel's command line, such as guest_ip=10.0.0.1/24.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
made=${1-$here/made}
[ ! -e "$made/initrd.gz" ] || [ ! -e "$made/initrd-agent.gz" ] || exit 0

fail() {
  printf 'test/guest/make.sh: %s\n' "$*" >&2
  exit 1
}
[ "$(uname -m)" = x86_64 ] || fail 'the guest is made for x86-64 only'
busybox=$(command -v busybox) || fail 'busybox is missing (Debian: apt install busybox-static)'
case $(ldd "$busybox" 2>&1 || true) in
*'not a dynamic'*) ;;
*) fail "$busybox needs libraries (Debian: apt install busybox-static)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
kernel=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-[0-9]/ { print $2; exit }')
[ -n "$kernel" ] || fail 'there is no package linux-image-cloud-amd64 here'
unpack() {
  (cd "$work" && apt-get -q download "$1" >apt.log 2>&1) || fail "could not download $1: $(tail -n 1 "$work/apt.log")"
  dpkg-deb -x "$work/$1"_*.deb "$work/$2"
}
unpack "$kernel" kernel
unpack qemu-guest-agent agent
agent=$work/agent/usr/sbin/qemu-ga
libraries=$(ldd "$agent") || fail "$agent cannot be run here"
case $libraries in
*'not found'*) fail 'the guest agent needs libraries (Debian: apt install qemu-utils libnuma1 liburing2)' ;;
esac

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,lib,tmp}
cp "$busybox" "$root/bin/busybox"
# In this order: each needs those before it.
order='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net virtio_blk'
modules() {
  for module in $1; do find "$work/kernel/lib/modules" -name "$module.ko" -exec cp {} "$2/" \;; done
}
modules "$order" "$root/lib"
cat >"$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
INIT
# shellcheck disable=SC2016 # the guest expands it
printf 'for module in %s; do insmod /lib/$module.ko 2>/dev/null; done\n' "$order" >>"$root/init"
cat >>"$root/init" <<'INIT'
address=$(sed -n 's/.*guest_ip=\([^ ]*\).*/\1/p' /proc/cmdline)
if [ -n "$address" ]; then ip addr add "$address" dev eth0; ip link set eth0 up; fi
echo "guest is ready $address"
while true; do setsid sh -c 'exec sh -i </dev/ttyS0 >/dev/ttyS0 2>&1'; done
INIT
chmod 755 "$root/init"

more=$work/more
mkdir -p "$more"/{agent,lib/x86_64-linux-gnu,lib64}
cp "$agent" "$more/agent/"
awk '$2 == "=>" { print $3 } $1 ~ "^/" { print $1 }' <<<"$libraries" | while read -r library; do cp --parents -L "$library" "$more"; done
order='virtio_console crc16 mbcache jbd2 crc32c_generic libcrc32c ext4'
modules "$order" "$more/agent"
# shellcheck disable=SC2016 # the guest expands it
printf '#!/bin/sh\nfor module in %s; do insmod /agent/$module.ko 2>/dev/null; done\n' "$order" >"$more/agent/modules"
chmod 755 "$more/agent/modules"

packed() { (cd "$1" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -9); }
mkdir -p "$made"
cp --remove-destination "$work"/kernel/boot/vmlinuz-* "$made/vmlinuz"
packed "$root" >"$made/initrd.new"
mv "$made/initrd.new" "$made/initrd.gz"
{ cat "$made/initrd.gz"; packed "$more"; } >"$made/initrd.new"
mv "$made/initrd.new" "$made/initrd-agent.gz"
