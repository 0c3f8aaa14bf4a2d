#!/usr/bin/env bash
# Four hosts with an address each (network namespaces of this machine): a solve across them, and what happens when a rank is killed or
# stopped, or when a link is cut.
source "$(dirname "${BASH_SOURCE[0]}")/testing.bash"
command -v mpirun > /dev/null || { echo "SKIPPED network: no mpirun"; exit 77; }
id=qs$$
hosts=(1 2 3 4)
net=10.$((64 + $$ % 128)).$((RANDOM % 250))
remove_hosts() {
  for h in "${hosts[@]}"; do
    ip netns pids "$id$h" 2> /dev/null | xargs -r kill -KILL 2> /dev/null || true
    ip netns del "$id$h" 2> /dev/null || true
  done
  ip link del "$id" 2> /dev/null || true
}
trap 'remove_hosts; rm -rf "$folder"' EXIT
make_hosts() {
  ip link add "$id" type bridge && ip addr add "$net.254/24" dev "$id" && ip link set "$id" up || return 1
  for h in "${hosts[@]}"; do
    ip netns add "$id$h" && ip link add "${id}v$h" type veth peer name eth0 netns "$id$h" && ip link set "${id}v$h" master "$id" up || return 1
    ip -n "$id$h" addr add "$net.$h/24" dev eth0 && ip -n "$id$h" link set eth0 up && ip -n "$id$h" link set lo up || return 1
  done
}
make_hosts 2> why.txt || { echo "SKIPPED network: no network namespaces here ($(head -1 why.txt))"; exit 77; }
unshare --uts true 2> why.txt || { echo "SKIPPED network: no host names of one's own here ($(head -1 why.txt))"; exit 77; }

# What mpirun calls in place of ssh: agent ADDRESS COMMAND...
cat > agent <<END
#!/usr/bin/env bash
host=\${1##*.}
shift
# A host that is lost is lost with its disk.
[ -n "\$(ip link show "${id}v\$host" up)" ] || { rm -rf "$folder/kept/host\$host"; exit 255; }
exec ip netns exec "$id\$host" unshare --uts bash -c 'hostname "host\$0"; eval "\$1"' "\$host" "\$*"
END
chmod +x agent
# across COUNT ARGUMENT...: a rank on each of the first COUNT hosts.
across() {
  local count=$1 where
  shift
  where=$(printf ",$net.%s:1" "${hosts[@]:0:count}")
  timeout 120 mpirun --allow-run-as-root --host "${where:1}" --mca plm_rsh_agent "bash $folder/agent" --mca btl tcp,self --mca btl_tcp_if_include "$net.0/24" \
    --mca oob_tcp_if_include "$net.0/24" --mca oob_tcp_keepalive_time 5 --mca oob_tcp_keepalive_intvl 2 --mca oob_tcp_keepalive_probes 3 --bind-to none --wdir "$PWD" -x STARPU_SILENT -n "$count" "$@"
}

make_configuration
# Ranks that share two cores answer each other slowly: two columns are enough.
run=(solve --gauge lattice.ildg --kappa 0.124 --tol 1e-12 --columns 0,1 --threads 1)
expect 0 '^wrote one.json' "${run[@]}" --residual-history --json one.json
across 4 "$QUARKSTAR" "${run[@]}" --residual-history --json four.json > stdout.txt 2> stderr.txt || { cat stderr.txt; die "a solve on four hosts failed"; }
histories() { grep -oE '"-?0x[^"]*"' "$1"; }
[ -n "$(histories one.json)" ] || die "no residual history"
cmp <(histories one.json) <(histories four.json) || die "four hosts give other bits"
across 4 "$QUARKSTAR" machine > stdout.txt 2> stderr.txt || { cat stderr.txt; die "machine failed on four hosts"; }
for h in "${hosts[@]}"; do grep -q "host$h" stdout.txt || { cat stdout.txt; die "host$h is not listed"; }; done

# A kappa far beyond the critical one: a column takes a thousand iterations, and nothing is written but what a flag asks for.
expect 0 '^plaquette ' gauge generate large.ildg --lattice 8 8 8 8 --beta 5.7 --sweeps 2 --seed 7 --format ildg
long=(solve --gauge "$folder/large.ildg" --kappa 0.2 --tol 1e-13 --solver cgnr --threads 1 --json run.json)
# hit COUNT COMMAND FLAG...: starts the long solve with those flags on so many hosts, and runs the command in its first column's iterations
# (where a file is named by `first`: once that exists). Sets job.
hit() {
  local count=$1 strike=$2
  shift 2
  : > stderr.txt
  across "$count" bash -c 'echo $$ > pid$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' "$QUARKSTAR" "${long[@]}" "$@" > stdout.txt 2> stderr.txt &
  job=$!
  until grep -q 'column 1/12: iteration' stderr.txt && { [ ! -v first ] || [ -e "$first" ]; }; do
    kill -0 $job 2> /dev/null || { cat stdout.txt stderr.txt; die "the job ended before '$strike'"; }
    sleep 0.1
  done
  $strike
}
# finish JOB: waits for its end, and sets code.
finish() {
  code=0
  wait "$1" || code=$?
}
named() { grep -qE "$1" stderr.txt || { cat stderr.txt; die "$2"; }; }
# leave_nothing: what a broken job left on the hosts is gone, and every host reaches every other (a refused connection is an answer).
leave_nothing() {
  for h in "${hosts[@]}"; do
    ip netns pids "$id$h" | xargs -r kill -KILL 2> /dev/null || true
    ip -n "$id$h" neigh flush dev eth0
  done
  for a in "${hosts[@]}"; do
    for b in "${hosts[@]}"; do
      for ((i = 0; i < 50; ++i)); do
        [[ $(LC_ALL=C timeout 2 ip netns exec "$id$a" bash -c "exec 3<> /dev/tcp/$net.$b/9" 2>&1) != *refused* ]] || continue 2
        sleep 0.2
      done
      die "host $a does not reach host $b"
    done
  done
}

kill_rank() { kill -KILL "$(cat pid2)"; }
first=restart/column00.checkpoint
hit 4 kill_rank --checkpoint restart --checkpoint-every 20
unset first
finish "$job"
[ $code != 0 ] || die "the job ended well although a rank was killed"
named 'rank 2 .*(signal 9|Killed)|process rank 2' "the killed rank is not named"
leave_nothing
restart() { across 4 "$QUARKSTAR" "${long[@]}" --columns 0 --tol 1e-3 --checkpoint restart > stdout.txt 2> stderr.txt; }
# Open MPI gives up a connection at its first failure, which busy processors bring about too: that is no word on our restart file.
restart || { grep -q 'Open MPI failed to TCP connect' stderr.txt && leave_nothing && restart; } || { cat stderr.txt; die "no restart"; }
[ "$(grep -c '"reason": "converged"' run.json)" = 1 ] || die "not one column after the restart"

# Both end by a watchdog of 20 s, so together: the link that is cut is that of a host which the job of the stopped rank does not have.
stop_rank() { kill -STOP "$(cat pid2)"; }
cut_link() { ip link set "${id}v4" down; }
mkdir stop cut
cd stop
hit 3 stop_rank --watchdog 20
stopped=$job
cd ../cut
hit 4 cut_link --watchdog 20
cut=$job

cd ../stop
finish "$stopped"
kill -KILL "$(cat pid2)" 2> /dev/null || true
[ $code != 0 ] || die "the job ended well although a rank was stopped"
named 'no task or message has completed.*from rank 2 \(host3\)' "the stopped rank is not named"

cd ../cut
finish "$cut"
[ $code != 0 ] || die "the job ended well although a link was cut"
[ $code != 124 ] || { cat stderr.txt; die "the job did not end when a link was cut"; }
# By us or by mpirun, whoever notices first.
named 'no answer from rank 3 \(host4\)|Remote daemon: .* on node [0-9.]+\.4$' "the host behind the cut link is not named"

# The link of a host is cut, and its kept files are lost: the launcher leaves it out, and the spare goes on from the copies with the same bits.
cd "$folder"
ip link set "${id}v4" up
short=(solve --gauge "$folder/large.ildg" --kappa 0.165 --tol 1e-12 --columns 0,1 --nrhs 1 --threads 1 --residual-history)
expect 0 '^wrote one.json' "${short[@]}" --json one.json
others() { for h in 1 2 3 4; do [ "$h" = "$1" ] || echo -n " $net.$h"; done; }
# lose_host HOST MOMENT: so many milliseconds behind the first state. Whether the job was still at work.
lose_host() {
  local code=0
  leave_nothing
  rm -rf kept
  (
    until ls kept/host3/state-* > /dev/null 2>&1; do sleep 0.1; done
    sleep "$(($2 / 1000)).$(printf %03d $(($2 % 1000)))"
    ip link set "${id}v$1" down
  ) &
  local cutter=$!
  timeout 900 "${QUARKSTAR_SOURCE_DIR:-$here/../..}/scripts/relaunch" --hosts "$(printf "$net.%s," "${hosts[@]}")" --spares 1 --ssh "$folder/agent" -- \
    --allow-run-as-root --mca btl tcp,self --mca btl_tcp_if_include "$net.0/24" --mca oob_tcp_if_include "$net.0/24" --bind-to none --wdir "$PWD" -x STARPU_SILENT \
    "$QUARKSTAR" "${short[@]}" --checkpoint "$folder/kept" --redundant --krylov-state --checkpoint-every 4 --check-every 4 --watchdog 20 --json spare.json \
    > stdout.txt 2> stderr.txt || code=$?
  # The job may have ended before.
  kill $cutter 2> /dev/null || true
  wait $cutter || true
  ip link set "${id}v$1" up || die "the link of host $1 does not come up again"
  [ $code = 0 ] || { cat stdout.txt stderr.txt; die "exit code $code of the launcher: host $1 after $2 ms"; }
  cmp <(histories one.json) <(histories spare.json) || die "other bits behind the loss of host $1 after $2 ms"
  grep -q '^relaunch: start 2' stderr.txt || return 1
  named "relaunch: host $net.$1 does not answer: it is left out" "the host that is lost is not named"
  named "relaunch: start 2 on$(others "$1")\$" "the spare does not take its place"
}
# QUARKSTAR_FAULTS: how many times, host and moment by chance behind the first time.
lose_host 2 0 || die "the job ended before its link was cut"
RANDOM=${QUARKSTAR_SEED:=$((RANDOM + 1))}
echo "seed $QUARKSTAR_SEED"
for ((fault = 1; fault < ${QUARKSTAR_FAULTS:-1}; ++fault)); do
  host=$((1 + RANDOM % 3)) moment=$((RANDOM % 1500))
  echo "the link of host $host after $moment ms"
  lose_host $host $moment || echo "the job was over"
done
