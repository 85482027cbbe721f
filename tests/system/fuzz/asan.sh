#!/bin/sh
# Builds the stages under AddressSanitizer in build/asan and fuzzes them there; arguments are those of fuzz.py.
# The compiled modules of the tree stay as they are. Usage: asan.sh PYTHON [ARGUMENTS]
set -eu
python=$(realpath -s "$1")
shift
root=$(cd "$(dirname "$0")/../../.." && pwd)
there=$root/build/asan
mkdir -p "$there"
cd "$root"
# Python and C of one version: compiled modules are left behind, or newer ones here would not be built there.
for part in analyzer dissectors tests samples; do
    rm -rf "${there:?}/$part"
    cp -r "$part" "$there/$part"
done
cp setup.py pyproject.toml README.md LICENSE "$there"
find "$there/dissectors" -name '*.so' -delete
cd "$there"
flags='-O1 -g -fsanitize=address -fno-omit-frame-pointer'
CFLAGS=$flags LDFLAGS=-fsanitize=address "$python" setup.py --quiet build_ext --inplace
grep -q __asan dissectors/tcp/reassembly*.so || { echo "the stages were built without AddressSanitizer" >&2; exit 1; }
# Python's own allocator would hide what is beside a buffer; what it leaks at its end is not ours.
LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
    "$python" tests/system/fuzz/fuzz.py "$@"
