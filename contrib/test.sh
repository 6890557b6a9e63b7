#!/bin/sh
# Lint, types, docs and tests, from nothing but Python 3.10+ and a package index.
#
#   sh contrib/test.sh                  everything, as CI runs it
#   sh contrib/test.sh quick            the same, but of the tests only the quick ones (under two minutes)
#   sh contrib/test.sh -k pool -x       what follows is for pytest
#
# PYTHON names the interpreter to use.  In CI (CI=true), as root on Debian, missing system packages are installed.
set -eu
cd "$(dirname "$0")/.."
. contrib/venv.sh

# Pairs of a command and the Debian package that has it.  cc builds the benchmark's stub server.
SYSTEM_COMMANDS=${SYSTEM_COMMANDS-cc:gcc}

failed=""
passed_count=0
failed_count=0

heading() {
    printf '\n== %s\n' "$1"
}

# step NAME COMMAND...: runs it under a heading, with its duration; a failure is remembered, not final.
step() {
    name=$1
    shift
    heading "$name"
    started=$(date +%s)
    if "$@"; then
        outcome=ok
        passed_count=$((passed_count + 1))
    else
        outcome=FAILED
        failed="$failed $name"
        failed_count=$((failed_count + 1))
    fi
    # Nothing is printed after pytest: its own summary, with its own duration, is the last line.
    [ "$name" = pytest ] || echo "$name: $outcome, $(($(date +%s) - started)) s"
}

install_system_packages() {
    packages=""
    for pair in $SYSTEM_COMMANDS; do
        command -v "${pair%%:*}" >/dev/null || packages="$packages ${pair#*:}"
    done
    [ -n "$packages" ] || return 0
    [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    heading "system packages:$packages"
    # Word splitting is meant: several packages.
    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y $packages
}

# The quick tests: those of these places that exist, without storms and without servers.
quick_tests() {
    for place in tests/unit tests/wire tests/spec tests/test_architecture.py tests/test_public_api.py; do
        [ ! -e "$place" ] || printf '%s ' "$place"
    done
}

install_system_packages
heading "environment"
use_venv test,docs
echo "Python $(python_version "$VENV_PYTHON") in $VENV"

step flake8 "$VENV_PYTHON" -m flake8 geomongo tests contrib docs setup.py
step isort "$VENV_PYTHON" -m isort --quiet --check-only geomongo tests contrib docs setup.py
step mypy "$VENV_PYTHON" -m mypy geomongo
step docs "$VENV_PYTHON" -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs

if [ "${1:-}" = quick ]; then
    shift
    set -- -m "not slow and not integration and not net" $(quick_tests) "$@"
fi
step pytest "$VENV_PYTHON" -m pytest "$@"

if [ -n "$failed" ]; then
    printf '\nFailed:%s\n%d passed, %d failed\n' "$failed" "$passed_count" "$failed_count"
    exit 1
fi
