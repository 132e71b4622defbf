#!/bin/sh
# The step of the action: evaluate, annotate, summarise. Everything comes by variables, so no input is ever part of a script.
# RUN, OUT: files. BASELINE, JUNIT, HOME_OF_METNOS: may be empty. GITHUB_OUTPUT, GITHUB_STEP_SUMMARY: as the runner sets them.
set -u
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
METNOS_HOME=${HOME_OF_METNOS:-$scratch/home}
export METNOS_HOME
set -- eval "$RUN" --out "$OUT" --annotations
[ -z "$BASELINE" ] || set -- "$@" --baseline "$BASELINE"
[ -z "$JUNIT" ] || set -- "$@" --junit "$JUNIT"
metnos "$@" >"$scratch/told"
status=$?
cat "$scratch/told"
passed=false
[ $status -ne 0 ] || passed=true
{
    echo "result=$OUT"
    echo "passed=$passed"
} >>"${GITHUB_OUTPUT:-/dev/null}"
{
    echo '```'
    grep -v '^::' "$scratch/told" || true
    echo '```'
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit $status
