#!/gns3/bin/busybox sh
# Prints mode, user, group and path of all that is below a directory, as .gns3_perms has it.
find "$1" -depth ! -path "$1/.gns3_perms" -print0 | xargs -0 stat -c '%a:%u:%g:%n'
