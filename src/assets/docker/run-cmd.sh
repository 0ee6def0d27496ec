#!/gns3/bin/busybox sh
# Runs a command with the search path of the image: the first argument.
PATH=$1
export PATH
shift
exec "$@"
