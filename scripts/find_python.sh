#!/bin/sh
# Prints the path of a Python that can make a virtual environment. Nothing but sh is needed.
#   find_python.sh            any Python >= 3.11
#   find_python.sh 3.13       that one, or nothing (exit 1, silent)
# Exit 3 with a sentence about what to install if there is none.
set -u
wanted="${1:-}"

version_ok='import sys; w = sys.argv[1]; v = sys.version_info
sys.exit(0 if v >= (3, 11) and (not w or w == "%d.%d" % v[:2]) else 1)'
venv_ok='import ensurepip, venv'
where='import sys; print(sys.executable)'
short='import sys; print("%d.%d" % sys.version_info[:2])'
bare=""

try() {
    "$1" -c "$version_ok" "$wanted" >/dev/null 2>&1 || return 1
    if ! "$1" -c "$venv_ok" >/dev/null 2>&1; then
        [ -n "$bare" ] || bare="$("$1" -c "$short" 2>/dev/null)"
        return 1
    fi
    "$1" -c "$where"
}

if [ -n "${PYTHON:-}" ] && [ -z "$wanted" ]; then
    try "$PYTHON" && exit 0
    echo "PYTHON=$PYTHON is not a Python >= 3.11 with venv." >&2
    exit 3
fi

if [ -n "$wanted" ]; then names="python$wanted python3"; else names="python3.13 python3.12 python3.11 python3.14 python3"; fi
for name in $names; do
    try "$name" && exit 0
done
# A pyenv shim refuses a version that is installed but not chosen; its interpreters lie in one folder.
for path in "${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv}"/versions/3.*/bin/python3; do
    [ -x "$path" ] && try "$path" && exit 0
done

[ -z "$wanted" ] || exit 1
if [ -n "$bare" ]; then
    echo "Python $bare is here, but without venv. Install it and try again:" >&2
    echo "    apt-get install python$bare-venv      (Debian, Ubuntu; elsewhere the package that brings ensurepip)" >&2
else
    echo "Metnos needs Python 3.11 or later with venv, and none was found. For example:" >&2
    echo "    apt-get install python3 python3-venv  (Debian 12 or later, Ubuntu 24.04 or later)" >&2
    echo "or name one: make PYTHON=/path/to/python3.12" >&2
fi
exit 3
