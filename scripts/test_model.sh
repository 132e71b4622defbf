#!/bin/sh
# Tests with real weights, in .venv with the extra `llama`: quick once that is built and the weights are there.
# METNOS_TEST_MODELS: a folder that holds them already; METNOS_WHEELS: one with a wheel of llama-cpp-python.
# A machine that cannot build it is told so by name and is no fault; every step has an end.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
build_s=${METNOS_BUILD_S:-2400} pull_s=${METNOS_PULL_S:-1200} test_s=${METNOS_TEST_S:-1200}

skip() {
    echo "SKIPPED test-model: $*"
    exit 0
}

if ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("llama_cpp") is None)'; then
    wheels=${METNOS_WHEELS:-}
    ls "$wheels"/llama_cpp_python-*.whl >/dev/null 2>&1 || wheels=
    if [ -z "$wheels" ] && ! command -v c++ >/dev/null 2>&1 && ! command -v g++ >/dev/null 2>&1; then
        skip "no C++ compiler on this machine (package g++)"
    fi
    echo "installing the extra llama into .venv (once; built from source it takes some ten minutes) ..." >&2
    HATCH_BUILD_NO_HOOKS=true timeout "$build_s" "$python" -m pip --disable-pip-version-check -qq install \
        -c constraints.txt ${wheels:+--find-links "$wheels"} -e '.[dev,llama]'
fi

models=${METNOS_TEST_MODELS:-}
if [ -z "$models" ]; then
    home=$PWD/build/test-models
    models=$home/models
    .venv/bin/metnos model pull --help >/dev/null 2>&1 || skip "set METNOS_TEST_MODELS: this version fetches no weights"
    for name in smollm2-135m qwen2.5-coder-0.5b; do
        code=0
        timeout "$pull_s" .venv/bin/metnos --home "$home" model pull "$name" || code=$?
        case $code in
        0) ;;
        3 | 124) skip "the weights of $name could not be fetched" ;;
        *) exit "$code" ;;
        esac
    done
fi
METNOS_TEST_MODELS=$(cd "$models" && pwd)
export METNOS_TEST_MODELS
timeout "$test_s" "$python" -m pytest tests/model ${PYTEST:-}
