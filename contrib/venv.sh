# Sourced by contrib/test.sh and contrib/demo.sh: the project's own virtual environment in .venv.
#
# use_venv EXTRAS    makes .venv where there is none that runs, installs the project with these extras (such as
#                    test,docs) where that is not current, and sets VENV_PYTHON.
# PYTHON=...         the interpreter to make it with; a .venv made with another version is made anew.
#
# It is current when a stamp file holds the checksum of setup.cfg and the version of the interpreter.

VENV=.venv
VENV_PYTHON=$VENV/bin/python

die() {
    printf '%s\n' "$*" >&2
    exit 2
}

python_version() {
    "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null
}

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        is_new_enough "$PYTHON" || die "PYTHON=$PYTHON is not Python 3.10 or later."
        printf '%s\n' "$PYTHON"
        return
    fi
    for candidate in python3 python python3.13 python3.12 python3.11 python3.10 python3.14; do
        if command -v "$candidate" >/dev/null && is_new_enough "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    die "Python 3.10 or later is needed; set PYTHON to its path."
}

venv_is_usable() {
    [ -x "$VENV_PYTHON" ] && is_new_enough "$VENV_PYTHON" && "$VENV_PYTHON" -m pip --version >/dev/null 2>&1 || return 1
    [ -z "${PYTHON:-}" ] || [ "$(python_version "$PYTHON")" = "$(python_version "$VENV_PYTHON")" ]
}

make_venv() {
    base=$(find_python) || exit 2
    echo "Making $VENV with $base ($(python_version "$base"))"
    rm -rf "$VENV"
    "$base" -m venv "$VENV" || die "$base cannot make a virtual environment (on Debian: apt-get install python3-venv)."
}

use_venv() {
    venv_is_usable || make_venv
    stamp=$VENV/installed-$1
    wanted="$(cksum <setup.cfg) $(python_version "$VENV_PYTHON")"
    if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
        return
    fi
    echo "Installing geomongo and its extras $1 into $VENV"
    if ! "$VENV_PYTHON" -m pip install --disable-pip-version-check --use-pep517 -e ".[$1]" >"$VENV/install.log" 2>&1; then
        tail -n 40 "$VENV/install.log" >&2
        die "Installing failed; all of pip's output is in $VENV/install.log."
    fi
    printf '%s\n' "$wanted" >"$stamp"
}
