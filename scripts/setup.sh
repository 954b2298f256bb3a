#!/bin/sh
# Installs what is missing: the npm packages, the pinned Node as node_modules/.bin/node, and bubblewrap; says what it cannot install.
set -eu
cd "$(dirname "$0")/.."
quietly="--ignore-scripts --no-audit --no-fund --loglevel=error"
installed() { [ -f "$1/node_modules/.metier-setup" ] && [ ! "$1/package-lock.json" -nt "$1/node_modules/.metier-setup" ]; }
for folder in . pinned-node; do
  installed "$folder" && continue
  echo "Installing packages (npm ci, $folder) …" >&2
  npm ci --prefix "$folder" $quietly >&2
  touch "$folder/node_modules/.metier-setup"
done
for node in pinned-node/node_modules/node-*/bin/node; do
  [ -x "$node" ] && mkdir -p node_modules/.bin && ln -sfn "../../$node" node_modules/.bin/node
done
[ "$(uname -s)" = Linux ] || exit 0
if ! command -v bwrap >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && [ "${METIER_NO_APT:-}" = "" ]; then
    echo 'Installing bubblewrap, the sandbox, with apt-get (METIER_NO_APT=1 forbids it) …' >&2
    { apt-get install -y -q bubblewrap || { apt-get update -q && apt-get install -y -q bubblewrap; }; } >/dev/null 2>&1 ||
      echo 'Could not install bubblewrap. Run: apt-get update && apt-get install bubblewrap' >&2
  else
    echo 'bubblewrap is missing, so programs run in WebAssembly alone. Add it with: sudo apt-get install bubblewrap' >&2
  fi
fi
