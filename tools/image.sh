#!/bin/sh
# Builds the image of Containerfile on a base that debootstrap makes, runs it, and says how large it is.
#
#   tools/image.sh FOLDER
#
# As root, with debootstrap and buildah (apt install debootstrap buildah); dist/ holds a wheel (make wheels). No image is pulled, and
# no engine runs: buildah isolates by chroot. Settings of pip and its mirrors are taken from this machine.
set -eu

folder=$1
here=$(cd "$(dirname "$0")/.." && pwd)
base=$folder/base
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
tools() { buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }

if ! test -e "$base/.made"; then
    mkdir -p "$base"
    debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv trixie "$base" "$mirror" >"$folder/base.log"
    rm -rf "$base/var/cache/apt" "$base/var/lib/apt/lists" "$base/usr/share/doc" "$base/usr/share/man" "$base/usr/share/locale"
    touch "$base/.made"
fi
from=$(tools from scratch)
tools copy -q "$from" "$base" / >/dev/null
tools commit -q "$from" kanalyze-base >/dev/null
tools rm "$from" >/dev/null

# What pip needs to reach its index from inside.
volumes=""
for file in /etc/pip.conf ${PIP_CERT:-}; do
    test ! -e "$file" || volumes="$volumes --volume $file:$file:ro"
done
variables=$(env | grep -E '^PIP_[A-Z_]*=' | sed 's/^/--env /' | tr '\n' ' ')
begin=$(date +%s)
tools build -q --isolation chroot --network host $volumes $variables --build-arg BASE=localhost/kanalyze-base \
    --tag kanalyze --file "$here/Containerfile" "$here" >/dev/null
echo "built in $(($(date +%s) - begin)) s"

made=$(tools from kanalyze)
inside() { tools run --isolation chroot --user 65534:65534 "$made" -- "$@"; }
inside kanalyze doctor
zstd -dcq "$here/samples/throttle.pcap.zst" | inside kanalyze - | sed -n 1,8p
tools push -q kanalyze "oci-archive:$folder/kanalyze.tar"
echo "image: $(($(stat -c %s "$folder/kanalyze.tar") / 1000000)) MB compressed"
