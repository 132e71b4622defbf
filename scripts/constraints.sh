#!/bin/sh
# Pins what the resolver chooses on Python 3.11, then has the same pins resolved on 3.13 where there is one.
# Writes names and versions only: where packages come from is the reader's business.
set -eu
here="$(cd "$(dirname "$0")/.." && pwd)"
cd "$here"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
unset PIP_CONSTRAINT 2>/dev/null || true
export HATCH_BUILD_NO_HOOKS=true

resolve() { # resolve PYTHON REPORT [pip options]
    python="$1"; report="$2"; shift 2
    "$python" -m pip --disable-pip-version-check -qq install --dry-run --ignore-installed --report "$report" \
        "$@" '.[docs,llama,ray]' hatchling
}

sh scripts/find_python.sh 3.11 >"$work/python" || { echo "make constraints needs Python 3.11" >&2; exit 3; }
"$(cat "$work/python")" -m venv "$work/v"
"$work/v/bin/python" -m pip --disable-pip-version-check -qq install --upgrade pip
resolve "$work/v/bin/python" "$work/a.json"
"$work/v/bin/python" scripts/pins.py "$work/a.json" >"$work/constraints.txt"

if later="$(sh scripts/find_python.sh 3.13)"; then
    "$later" -m venv "$work/w"
    "$work/w/bin/python" -m pip --disable-pip-version-check -qq install --upgrade pip
    resolve "$work/w/bin/python" "$work/b.json" -c "$work/constraints.txt"
    "$work/v/bin/python" scripts/pins.py "$work/a.json" "$work/b.json" >"$work/both.txt"
    mv "$work/both.txt" "$work/constraints.txt"
else
    echo "no Python 3.13 here: its pins were not tried" >&2
fi
mv "$work/constraints.txt" constraints.txt
chmod 644 constraints.txt
echo "constraints.txt: $(grep -c == constraints.txt) pins"
