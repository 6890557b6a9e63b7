#!/bin/sh
# A gunicorn application on geomongo under real load, from nothing but Python 3.10+ and a package index.
#
#   sh contrib/demo.sh                  load for some seconds, then a table; exits 0 when every answer was right
#   sh contrib/demo.sh --serve          keeps it up and prints the address of its page; Ctrl-C ends it
#   sh contrib/demo.sh --help           the other options
#
# GEOMONGO_URI names a server to use; without it an embedded one (SecantusDB) is started.
set -eu
cd "$(dirname "$0")/.."
. contrib/venv.sh
use_venv demo
PYTHONPATH=$PWD exec "$VENV_PYTHON" contrib/demo/run.py "$@"
