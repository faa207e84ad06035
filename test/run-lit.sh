#!/bin/sh
# run-lit.sh BUILD FOLDER: the lit tests of test/FOLDER (not of folders below it) against BUILD.
set -eu
build=$1
folder=$2
lit=$build/venv/bin/lit
[ -x "$lit" ] || lit=/usr/lib/llvm-22/bin/lit
exec "$lit" -sv -j2 "$build/test" --filter " :: $folder/[^/]*\$"
