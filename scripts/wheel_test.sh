#!/bin/sh
# A wheel, built as `pip install .` builds it, in an environment that holds nothing else: does `metnos` work there?
set -eu
here="$(cd "$(dirname "$0")/.." && pwd)"
cd "$here"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1
export PIP_CONSTRAINT="$here/constraints.txt"
unset HATCH_BUILD_NO_HOOKS PYTHONPATH METNOS_HOME 2>/dev/null || true

"$(sh scripts/find_python.sh)" -m venv "$work/v"
"$work/v/bin/python" -m pip wheel -qq --no-deps -w "$work/dist" .
"$work/v/bin/python" -m pip install -qq -c constraints.txt "$work"/dist/metnos-*.whl

mkdir -p "$work/home" "$work/files/below"
printf 'twelve bytes' >"$work/files/large.txt"
printf 'five.' >"$work/files/below/small.txt"
cd "$work/files"
export HOME="$work/home" METNOS_HOME="$work/home/metnos"
metnos="$work/v/bin/metnos"
use() { # what it printed is shown only if it fails
    "$metnos" "$@" >"$work/said" 2>&1 || { code=$?; cat "$work/said"; echo "metnos $*: exit code $code" >&2; exit 1; }
}
use --version
use catalog
use init
use doctor
"$metnos" ask "the largest file here" >"$work/answer"
grep -q 'large.txt' "$work/answer" || {
    echo "the installed metnos did not find large.txt:" >&2
    cat "$work/answer" >&2
    exit 1
}
"$work/v/bin/python" -c 'import metnos; [getattr(metnos, name) for name in metnos.__all__]'
"$work/v/bin/python" -m metnos --help >/dev/null
echo "the wheel works in an empty environment"
