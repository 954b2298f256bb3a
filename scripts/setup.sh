#!/bin/sh
# Installs what is missing: the npm packages (with the pinned Node) and bubblewrap; says what it cannot install and how to.
set -eu
cd "$(dirname "$0")/.."
stamp=node_modules/.metier-setup
if [ ! -f "$stamp" ] || [ package-lock.json -nt "$stamp" ]; then
  echo 'Installing packages (npm ci) …' >&2
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
  touch "$stamp"
fi
[ "$(uname -s)" = Linux ] || exit 0
if ! command -v bwrap >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo 'Installing bubblewrap (apt-get) …' >&2
    { apt-get install -y -q bubblewrap || { apt-get update -q && apt-get install -y -q bubblewrap; }; } >/dev/null 2>&1 ||
      echo 'Could not install bubblewrap. Run: apt-get update && apt-get install bubblewrap' >&2
  else
    echo 'bubblewrap is missing, so programs run in WebAssembly alone. Add it with: sudo apt-get install bubblewrap' >&2
  fi
fi
