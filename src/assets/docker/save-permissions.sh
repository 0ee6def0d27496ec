#!/gns3/bin/busybox sh
# Before a container is stopped: notes owners and modes of its volumes (arguments 2 and on) in their .gns3_perms. The first argument is
# the user, such as 107:107, to whom all files are given, so that the server may read them; empty when it may anyway.
PATH=/gns3/bin:/tmp/gns3/bin
export PATH
owner=$1
shift
status=0
for volume in "$@"; do
  # First aside: on a full disk the old notes are better than half of the new ones.
  if /gns3/note-permissions.sh "$volume" >/tmp/gns3/permissions; then
    cat /tmp/gns3/permissions >"$volume/.gns3_perms" || status=1
    [ -z "$owner" ] || { chmod -R u+rX "$volume" && chown -R -h "$owner" "$volume"; }
  else
    status=1
  fi
done
exit $status
