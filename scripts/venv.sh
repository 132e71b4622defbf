#!/bin/sh
# venv.sh FOLDER [VERSION]: makes the virtual environment unless a working one is there.
set -eu
folder="$1"
if [ -x "$folder/bin/python" ] && "$folder/bin/python" -m pip --version >/dev/null 2>&1; then exit 0; fi
python="$(sh "$(dirname "$0")/find_python.sh" ${2:-})"
echo "making $folder with $python" >&2
rm -rf "$folder"
"$python" -m venv "$folder"
