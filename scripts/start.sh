#!/bin/sh
# What "npm start" runs: the gateway, or the command given after "--", in the folder in which it was typed.
set -eu
metier=$(cd "$(dirname "$0")/.." && pwd -P)/bin/metier
# npm moves to the folder of the package (--prefix); whoever typed it means the configuration where they stand.
cd "${INIT_CWD:-.}"
[ $# -gt 0 ] || set -- serve
exec "$metier" "$@"
