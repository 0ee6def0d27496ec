#!/usr/bin/env bash
# Makes the guest of the tests: Debian's kernel for clouds and an initial file system of busybox, in test/guest/made (or the directory
# that is given). The kernel is downloaded by apt-get as a package and unpacked, not installed. Does nothing where all is there.
# The guest: a shell on ttyS0, eth0 (virtio-net-pci) with the address of ip= in the kernel's command line, such as guest_ip=10.0.0.1/24.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
made=${1-$here/made}
[ ! -e "$made/initrd.gz" ] || exit 0

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
(cd "$work" && apt-get -q download "$kernel" >apt.log 2>&1) || fail "could not download $kernel: $(tail -n 1 "$work/apt.log")"
dpkg-deb -x "$work/$kernel"_*.deb "$work/kernel"

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,lib,tmp}
cp "$busybox" "$root/bin/busybox"
# In this order: each needs those before it.
order='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover virtio_net virtio_blk'
for module in $order; do
  find "$work/kernel/lib/modules" -name "$module.ko" -exec cp {} "$root/lib/" \;
done
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

mkdir -p "$made"
cp "$work"/kernel/boot/vmlinuz-* "$made/vmlinuz"
(cd "$root" && find . | "$busybox" cpio -o -H newc 2>/dev/null | gzip -9 >"$made/initrd.new")
mv "$made/initrd.new" "$made/initrd.gz"
