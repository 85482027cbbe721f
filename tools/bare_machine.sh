#!/bin/bash
# The README's two commands on a minimal Debian 12: without a compiler, with gcc but without Python's headers, with all.
#
#   tools/bare_machine.sh FOLDER [TARGET ...]
#
# As root, with debootstrap (apt install debootstrap). FOLDER takes about 4 GB; the minimal system in it is kept, and each run begins
# with a copy. A target is one of the Makefile (default: demo test), with its settings if need be ('test PYTEST_ADDOPTS="-k tshark"'),
# or a wheel or a source archive: this is installed into a new environment, without a compiler alone, and reports on the samples.
# Settings of pip and its mirrors are taken from this machine.
set -eu
TIMEFORMAT="%R s, %U + %S CPU s"

folder=$1
shift
test $# -gt 0 || set -- demo test
here=$(cd "$(dirname "$0")/.." && pwd)
minimal=$folder/minimal
system=$folder/debian
runs=0
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}

inside() {
    chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        $(env | grep -iE '^(https?_proxy|no_proxy|PIP_[A-Z_]*|SSL_CERT_FILE|REQUESTS_CA_BUNDLE)=' | tr '\n' ' ') sh -c "$1"
}

if ! test -e "$minimal/.made"; then
    mkdir -p "$minimal"
    debootstrap --variant=minbase --include=ca-certificates,make,python3,python3-venv bookworm "$minimal" "$mirror"
    touch "$minimal/.made"
fi
rm -rf "$system"
cp -a --reflink=auto "$minimal" "$system"
cp /etc/resolv.conf "$system/etc/resolv.conf"
for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt ${SSL_CERT_FILE:-} ${REQUESTS_CA_BUNDLE:-} ${PIP_CERT:-}; do
    test ! -e "$file" || { mkdir -p "$system$(dirname "$file")" && cp -L "$file" "$system$file"; }
done
test ! -e "$HOME/.config/pip/pip.conf" || install -D "$HOME/.config/pip/pip.conf" "$system/root/.config/pip/pip.conf"
# What any machine has, and a folder has not: processes, terminals, a name of its own that resolves (Java asks for it).
test -e "$system/proc/version" || mount -t proc proc "$system/proc"
test -e "$system/dev/pts/ptmx" || { mkdir -p "$system/dev/pts" && mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"; }
ln -sf pts/ptmx "$system/dev/ptmx"
echo "127.0.0.1 localhost $(hostname)" >"$system/etc/hosts"
trap 'umount "$system/proc" "$system/dev/pts" 2>/dev/null || true' EXIT

for packages in "" "gcc libc6-dev" "gcc libc6-dev python3-dev"; do
    test -z "$packages" || inside "apt-get install -y -qq --no-install-recommends $packages" >/dev/null
    rm -rf "$system/kanalyze"
    mkdir "$system/kanalyze"
    git -C "$here" archive HEAD | tar -x -C "$system/kanalyze"
    for target in "$@"; do
        command="cd /kanalyze && make $target"
        if [[ $target == *.whl || $target == *.tar.gz ]]; then
            test -z "$packages" || continue
            cp "$target" "$system/kanalyze"
            target=$(basename "$target")
            command="cd /kanalyze && rm -rf /env && python3 -m venv /env && /env/bin/pip install -q --no-compile ./$target"
            command="$command && cd / && /env/bin/kanalyze /kanalyze/samples"
        fi
        code=0
        { time inside "$command" >"$folder/out" 2>&1; } 2>"$folder/took" || code=$?
        echo "== ${packages:-no compiler}: $target: exit code $code, $(cat "$folder/took"), $(wc -l <"$folder/out") lines"
        grep -E '^(kanalyze:|no [A-Z])' "$folder/out" | sort | uniq -c || true
        cp "$folder/out" "$folder/out.$((++runs))"
        tail -n 3 "$folder/out"
    done
done
