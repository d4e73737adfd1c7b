#!/usr/bin/env bash
# Control plane of the cluster: etcd, kube-apiserver and kube-controller-manager.
#
#   control-plane.sh start | stop
#   control-plane.sh back-up            copies what etcd holds, which is away for a moment
#   control-plane.sh restore            stops all, puts the copy in the place of what etcd holds, and starts all
set -euo pipefail
node_address=10.244.0.1
data=$RUN/etcd/data
copy=$RUN/etcd/back-up
pids=$RUN/pids
mkdir -p "$pids"

# until_true SECONDS COMMAND…
until_true() {
  local tries=$(($1 * 5))
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || { echo "gave up waiting for: $*; the logs are in $RUN/logs" >&2; return 1; }
    sleep 0.2
  done
}

# run NAME COMMAND…
run() {
  local name=$1
  shift
  "$@" </dev/null >>"$RUN/logs/$name" 2>&1 &
  echo $! >"$pids/$name"
}

# end NAME: kube-apiserver would wait a minute for its watches.
end() {
  local pid
  pid=$(cat "$pids/$1" 2>/dev/null) || return 0
  kill -KILL "$pid" 2>/dev/null || true
  until_true 60 bash -c "! kill -0 $pid"
  rm "$pids/$1"
}

start_etcd() {
  run etcd etcd --data-dir "$data" --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --log-level warn
}

start_apiserver() {
  run apiserver "$BIN/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --advertise-address $node_address \
    --tls-cert-file "$RUN/apiserver.crt" --tls-private-key-file "$RUN/apiserver.key" \
    --token-auth-file "$RUN/tokens.csv" --authorization-mode RBAC \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$RUN/accounts.pub" \
    --service-account-signing-key-file "$RUN/accounts.key" --service-cluster-ip-range 10.96.0.0/16 \
    --kubelet-preferred-address-types InternalIP --kubelet-certificate-authority "$KUBE_CA"
  until_true 180 "$BIN/kubectl" get --raw /readyz
}

start_controller_manager() {
  run controller-manager "$BIN/kube-controller-manager" --kubeconfig "$KUBECONFIG" --leader-elect=false --bind-address 127.0.0.1 \
    --service-account-private-key-file "$RUN/accounts.key" --root-ca-file "$KUBE_CA" \
    --controllers deployment-controller,replicaset-controller,statefulset-controller,endpointslice-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,garbage-collector-controller
}

start() {
  start_etcd
  start_apiserver
  start_controller_manager
}

stop() {
  for name in controller-manager apiserver etcd; do end $name; done
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  back-up)
    # What it has answered is in its log, as after a crash.
    end etcd
    rm -rf "$copy"
    cp -a "$data" "$copy"
    start_etcd
    ;;
  restore)
    stop
    rm -rf "$data"
    cp -a "$copy" "$data"
    start
    ;;
  *)
    echo "usage: control-plane.sh start | stop | back-up | restore" >&2
    exit 1
    ;;
esac
