#!/bin/sh
# The unit tests with a wheel installed, not the checkout, on the Pythons of other Debian releases (trixie: 3.13, sid: 3.14).
#
#   tools/other_pythons.sh FOLDER WHEEL [RELEASE ...]
#
# As root, with debootstrap (apt install debootstrap). FOLDER takes about 1.5 GB for each release; systems in it are kept and used
# again. There is no compiler in them. Settings of pip and its mirrors are taken from this machine.
set -eu

folder=$1
wheel=$2
shift 2
test $# -gt 0 || set -- trixie sid
here=$(cd "$(dirname "$0")/.." && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

for release in "$@"; do
    system=$folder/$release
    inside() {
        chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
            $(env | grep -iE '^(https?_proxy|no_proxy|PIP_[A-Z_]*|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') sh -c "$1"
    }
    if ! test -e "$system/.made"; then
        mkdir -p "$system"
        debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv "$release" "$system" "$mirror" >"$folder/$release.log"
        touch "$system/.made"
    fi
    cp /etc/resolv.conf "$system/etc/resolv.conf"
    for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt ${SSL_CERT_FILE:-} ${REQUESTS_CA_BUNDLE:-} ${PIP_CERT:-}; do
        test ! -e "$file" || { mkdir -p "$system$(dirname "$file")" && cp -L "$file" "$system$file"; }
    done
    test -e "$system/proc/version" || mount -t proc proc "$system/proc"
    rm -rf "$system/kanalyze" "$system/env"
    mkdir "$system/kanalyze"
    # Tests and what they read; the packages are those of the wheel, beside the tests too: some read sources.
    git -C "$here" archive HEAD tests samples docs bench lab tools setup.py pyproject.toml Makefile README.md ARCHITECTURE.md \
        | tar -x -C "$system/kanalyze"
    cp "$wheel" "$system/kanalyze/"
    python3 -m zipfile -e "$wheel" "$system/kanalyze"
    begin=$(date +%s)
    inside "python3 -m venv /env && /env/bin/pip install -q /kanalyze/*.whl"
    echo "== $release: $(inside '/env/bin/python --version'), installed in $(($(date +%s) - begin)) s"
    begin=$(date +%s)
    inside "/env/bin/kanalyze /kanalyze/samples" 2>&1 | sed -n 1,6p
    echo "== report of the samples: $(($(date +%s) - begin)) s"
    inside "/env/bin/pip install -q pytest pytest-xdist hypothesis lz4 zstandard python-snappy xxhash scapy dpkt kafka-python"
    inside "cd /kanalyze && /env/bin/python -m pytest -q -p no:cacheprovider tests/unit -m 'not slow'" | tail -n 15
    umount "$system/proc"
done
