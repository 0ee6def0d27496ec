#!/gns3/bin/busybox sh
# The first process of a container in a lab, until the image's own command takes its place: permissions of volumes, /etc/hosts,
# interfaces. It needs nothing of the image, and no right that a container might not have. Its arguments are that command.

image_path=$PATH
applets=/tmp/gns3/bin
/gns3/bin/busybox mkdir -p "$applets" /etc /var/run
[ -e "$applets/sh" ] || /gns3/bin/busybox --install -s "$applets"
PATH=/gns3/bin:$applets:/sbin:$PATH
export PATH

# The files of volumes come without owners and modes out of archives and copies: what was noted when the container was stopped.
as_noted() {
  /gns3/note-permissions.sh "$1" | cmp -s - "$1/.gns3_perms" && return
  while IFS=: read -r mode user group path; do
    chown -h "$user:$group" "$path"
    [ -L "$path" ] || chmod "$mode" "$path"
  done <"$1/.gns3_perms"
}

# Files that were deleted on the container's former host.
deleted=/etc/network/.labwire-deleted
if [ -s "$deleted" ]; then
  xargs -0 rm -rf -- <"$deleted"
  rm -f "$deleted"
fi

# Names of volumes are no patterns.
set -f
old_ifs=$IFS
IFS=:
for volume in $GNS3_VOLUMES; do
  IFS=$old_ifs
  if [ -s "$volume/.gns3_perms" ]; then
    as_noted "$volume" 2>/dev/null
  else
    : >>"$volume/.gns3_perms"
  fi
done
IFS=$old_ifs
set +f

host=$(hostname)
if [ ! -s /etc/hosts ]; then
  printf '%s\t%s\n' 127.0.1.1 "$host" 127.0.0.1 localhost ::1 'localhost ip6-localhost ip6-loopback' \
    fe00::0 ip6-localnet ff00::0 ip6-mcastprefix ff02::1 ip6-allnodes ff02::2 ip6-allrouters >/etc/hosts
fi
sed '/^# GNS3_EXTRA_HOSTS_START$/,/^# GNS3_EXTRA_HOSTS_END$/d' /etc/hosts >/tmp/gns3/hosts
if [ -n "$GNS3_EXTRA_HOSTS" ]; then
  printf '# GNS3_EXTRA_HOSTS_START\n%s\n# GNS3_EXTRA_HOSTS_END\n' "$GNS3_EXTRA_HOSTS" >>/tmp/gns3/hosts
fi
# Written in place: it may be a mount of its own.
cmp -s /tmp/gns3/hosts /etc/hosts || cat /tmp/gns3/hosts >/etc/hosts

ip link set lo up
# The server gives the interfaces after the start.
while [ -n "$GNS3_MAX_ETHERNET" ] && ! grep -q "^ *$GNS3_MAX_ETHERNET:" /proc/net/dev; do
  sleep 0.05
done
for interface in /sys/class/net/eth*; do
  [ -e "$interface" ] && ip link set "${interface##*/}" up
done
ifup -a -f

user=${GNS3_USER:-root}
user=${user%%:*}
case $user in
*[!0-9]*) ;;
*) user=$(awk -F: -v id="$user" '$3 == id { print $1; exit }' /etc/passwd) ;;
esac
home=$(awk -F: -v name="${user:-root}" '$1 == name { print $6; exit }' /etc/passwd 2>/dev/null)
HOME=${home:-/root}
export HOME
if [ "${user:-root}" = root ]; then
  exec /gns3/run-cmd.sh "$image_path" "$@"
fi
exec su -p -s "$applets/sh" "$user" -- /gns3/run-cmd.sh "$image_path" "$@"
