#!/usr/bin/env bash
# Runs a server and its clients over QUIC in network namespaces. Their links carry a limited number of bytes
# per second.
#
#   tests/real_links/run.sh PROGRAM      PROGRAM is the built `repl-real-links`
#
# Needs root, `ip` and `tc`. Ends with a failure if a process does not reach the values that are printed
# below.
set -euo pipefail
program=$(realpath "$1")
folder=$(mktemp -d)
prefix=repl$$

leave() {
  local status=$?
  trap - EXIT
  kill $(jobs -p) 2>/dev/null || true
  wait 2>/dev/null || true
  for namespace in $(ip netns list | awk '{print $1}' | grep "^$prefix-" || true); do
    ip netns delete "$namespace"
  done
  rm -rf "$folder"
  exit $status
}
trap leave EXIT

within() {
  local namespace=$1
  shift
  ip netns exec "$prefix-$namespace" "$@"
}

# Starts the program in the background, as the process `started`.
start() {
  local namespace=$1
  shift
  ip netns exec "$prefix-$namespace" "$program" "$@" &
  started=$!
}

# Makes a namespace with a link to the router. All packets that leave the namespace go to the router.
host() {
  local name=$1 network=$2
  ip netns add "$prefix-$name"
  ip -n "$prefix-router" link add "to$network" type veth peer name uplink netns "$prefix-$name"
  ip -n "$prefix-router" address add "10.77.$network.1/24" dev "to$network"
  ip -n "$prefix-router" link set "to$network" up
  ip -n "$prefix-$name" address add "10.77.$network.2/24" dev uplink
  ip -n "$prefix-$name" link set lo up
  ip -n "$prefix-$name" link set uplink up
  ip -n "$prefix-$name" route add default via "10.77.$network.1"
}

# Limits the rate of a link in each direction, and the time that packets may wait in its queue.
slow() {
  local name=$1 network=$2 rate=$3 queue=$4
  within router tc qdisc add dev "to$network" root tbf rate "$rate" burst 5kb latency "$queue"
  within "$name" tc qdisc add dev uplink root tbf rate "$rate" burst 5kb latency "$queue"
}

open() {
  ip netns add "$prefix-router"
  within router sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
  host server 0
}

close() {
  for namespace in "$@" server router; do
    ip netns delete "$prefix-$namespace"
  done
}

serve() {
  start server serve 10.77.0.2:7777 "$folder/certificate" "$@"
  server=$started
  until [ -e "$folder/certificate" ]; do sleep 0.1; done
}

# Waits for the server and for all clients.
finish() {
  local failed=0
  for process in "$server" "${clients[@]}"; do
    wait "$process" || failed=1
  done
  clients=()
  return $failed
}
clients=()

# Each client has a link of its own, with 40 to 60 ms in each direction and 2 % loss, and must use half of its
# rate.
printf '4 clients, each with 2 Mbit/s, a round trip of 80 ms and more, and 2 %% loss\n'
open
ways=()
for network in 1 2 3 4; do
  host "client$network" "$network"
  slow "client$network" "$network" 2mbit 100ms
  start "client$network" delay 127.0.0.1:7000 10.77.0.2:7777 --delay-ms 40 --jitter-ms 20 --loss 0.02 --seed "$network"
  ways+=("$started")
done
serve --ships 190 --clients 4
for network in 1 2 3 4; do
  # The limit in milliseconds is one and a half times half of the round trip (60), plus a tick on each side (2
  # × 33).
  start "client$network" join 127.0.0.1:7000 "$folder/certificate" --max-delay-ms 126
  clients+=("$started")
done
finish
kill "${ways[@]}"
wait "${ways[@]}" 2>/dev/null || true
close client1 client2 client3 client4

printf '8 clients share 20 Mbit/s with 60 ms of queue, and want 50\n'
open
host clients 1
slow clients 1 20mbit 60ms
serve --ships 1000 --clients 8
for _ in 1 2 3 4 5 6 7 8; do
  start clients join 10.77.0.2:7777 "$folder/certificate" >>"$folder/outcomes"
  clients+=("$started")
done
finish
cat "$folder/outcomes"
# The bytes that arrive for a client in a tick, on average.
sed 's/.*"bytes_per_tick":\([0-9]*\).*/\1/' "$folder/outcomes" | awk '
  { sum += $1 }
  END { mean = sum / NR; printf "%d bytes for a client and tick\n", mean; exit !(NR == 8 && mean >= 7200) }'
