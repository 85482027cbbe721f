#!/bin/sh
# The unit tests with a wheel installed, not the checkout, on other Pythons.
#
#   tools/other_pythons.sh FOLDER WHEEL [PYTHON ...]
#
# PYTHON is an interpreter of this machine (a path, or a name like python3.12), or a Debian release, of which a system without a
# compiler is made (default: trixie, which has 3.13, and sid, which has 3.14). Releases need root and debootstrap (apt install
# debootstrap), and 1.5 GB of FOLDER each; systems in it are used again. Settings of pip and its mirrors are taken from this machine,
# and so are the captures that stand beside the checkout, where there are any.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
wheel=$(realpath "$2")
shift 2
test $# -gt 0 || set -- trixie sid
here=$(cd "$(dirname "$0")/.." && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
shared=$(realpath -m "${KANALYZE_SHARED:-$here/../shared}")
tools="pytest pytest-xdist hypothesis lz4 zstandard python-snappy xxhash scapy dpkt kafka-python"

debian() {
    system=$folder/$1
    if ! test -e "$system/.made"; then
        rm -rf "$system"
        mkdir -p "$system"
        debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv,zstd "$1" "$system" "$mirror" >"$system.log"
        touch "$system/.made"
    fi
    cp /etc/resolv.conf "$system/etc/resolv.conf"
    for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt ${SSL_CERT_FILE:-} ${REQUESTS_CA_BUNDLE:-} ${PIP_CERT:-}; do
        test ! -e "$file" || { mkdir -p "$system$(dirname "$file")" && cp -L "$file" "$system$file"; }
    done
    test -e "$system/proc/version" || mount -t proc proc "$system/proc"
    # Terminals.
    test -e "$system/dev/pts/ptmx" || { mkdir -p "$system/dev/pts" && mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"; }
    ln -sf pts/ptmx "$system/dev/ptmx"
    test ! -d "$shared" || { mkdir -p "$system/shared" && mount --bind -o ro "$shared" "$system/shared"; }
}

unmount() {
    test -z "$system" || umount "$system/proc" "$system/dev/pts" "$system/shared" 2>/dev/null || true
}

inside() {
    set -- /usr/bin/env -i HOME="$work" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 KANALYZE_SHARED="$captures" \
        $(env | grep -iE '^(https?_proxy|no_proxy|PIP_[A-Z_]*|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') sh -c "$1"
    if test -n "$system"; then chroot "$system" "$@"; else "$@"; fi
}

system=""
trap unmount EXIT
for name in "$@"; do
    unmount
    system=""
    captures=$shared
    work=$folder/$(basename "$name")
    python=$(command -v "$name" || true)
    if test -z "$python"; then
        debian "$name"
        python=python3
        work=/work
        captures=/shared
    fi
    rm -rf --one-file-system "$system$work"
    mkdir -p "$system$work/tree"
    # All but the packages: where a test looks for their sources it finds what pip installed.
    git -C "$here" archive HEAD -- . ":!analyzer" ":!dissectors" | tar -x -C "$system$work/tree"
    cp "$wheel" "$system$work/"
    begin=$(date +%s)
    inside "$python -m venv $work/env && $work/env/bin/pip install -q $work/*.whl"
    for package in analyzer dissectors; do
        inside "ln -s $work/env/lib/python3*/site-packages/$package $work/tree/$package"
    done
    echo "== $name: $(inside "$work/env/bin/python --version"), installed in $(($(date +%s) - begin)) s"
    begin=$(date +%s)
    inside "$work/env/bin/kanalyze $work/tree/samples" 2>&1 | sed -n 1,6p
    echo "== report of the samples: $(($(date +%s) - begin)) s"
    inside "$work/env/bin/pip install -q $tools"
    inside "cd $work/tree && $work/env/bin/python -m pytest -n 2 --dist loadgroup -p no:cacheprovider tests/unit" | tail -n 15
done
