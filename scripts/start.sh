#!/bin/sh
# What "npm start" runs: the gateway, or the command given after "--".
set -eu
[ $# -gt 0 ] || set -- serve
exec "$(dirname "$0")/../bin/metier" "$@"
