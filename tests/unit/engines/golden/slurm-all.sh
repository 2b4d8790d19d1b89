#!/bin/bash
# Run mnist-lenet: 4 peers as one job of Slurm. Written by `ako submit`.
#
# `ako launch` finds the allocation and starts each peer as a step of its own, so that a node that
# is lost ends one peer and not the job. In a mode that cannot do without it all begin again from
# their newest checkpoint. Where the time is over, all peers stop and agree, and the job queues
# itself again, to go on from there; so it does where it is preempted. Whoever cancels it has the
# peers stop likewise, and then nothing is queued.
#SBATCH --job-name=mnist-lenet
#SBATCH --output="/srv/u/runs/mnist-lenet-20261129-120000/log-%a.txt"
#SBATCH --open-mode=append
#SBATCH --nodes=4-5
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=1501M
#SBATCH --time=2:00:00
#SBATCH --partition=short
#SBATCH --array=1-5
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --signal=B:USR1@120

readonly requeues_max=50
readonly requeue_always=no
readonly again_max=3
ako=/opt/ako/bin/ako
peers=(p1 p2 p3 p4)
folder=/srv/u/runs/mnist-lenet-20261129-120000${SLURM_ARRAY_TASK_ID:+/run-$SLURM_ARRAY_TASK_ID}
cluster_file=/srv/u/runs/mnist-lenet-20261129-120000/config.yaml
requeues=${SLURM_RESTART_COUNT:-0}
mkdir -p "$folder"

# Has an attempt left something that every peer it had can go on from?
has_checkpoints() {
  local peer
  [[ -e $1/config.yaml ]] || return 1
  for peer in "${peers[@]}"; do
    [[ -e $1/metrics-$peer.jsonl ]] || continue
    compgen -G "$1/state-$peer-*.safetensors" > /dev/null || return 1
  done
}

# Libraries that take as many threads as the machine has processors take those of a peer.
export OMP_NUM_THREADS=2

# Where the nodes share no path with the data, each has a copy on its own disk (`--broadcast`).
broadcast=
broadcast=/data/mnist
data_there=/tmp/ako-data-$SLURM_JOB_ID-$requeues
on_each_node=(srun --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --no-kill)
unpack='mkdir "$0" 2> /dev/null || exit 0; tar -C "$0" -xf "$0.tar" && rm "$0.tar"'
send_data() {
  tar -C "$broadcast" -cf "$folder/data.tar" . &&
    sbcast --force "$folder/data.tar" "$data_there.tar" &&
    "${on_each_node[@]}" bash -c "$unpack" "$data_there" && rm "$folder/data.tar"
}
drop_data() {
  [[ -z $broadcast ]] || timeout 20 "${on_each_node[@]}" rm -rf "$data_there"
}

options=()
options+=(--restart 3)
[[ -z $SLURM_ARRAY_TASK_ID ]] || options+=(--set "seed=$SLURM_ARRAY_TASK_ID")
program=()

time_is_over=
cancelled=
a_peer_is_lost=
launch=
stop() { kill -"$1" "$launch" 2> /dev/null; }
trap 'stop TERM' TERM # to all processes or, as Slurm is set up, to this one alone
trap 'cancelled=yes; stop INT' USR2 # `ako cancel`
trap 'time_is_over=yes; stop INT' USR1

# Starts all peers, from the newest attempt that left checkpoints, and waits for them: `status`.
start_and_wait() {
  local count=0 k again
  while [[ -e $folder/attempt-$count ]]; do ((++count)); done
  results=$folder/attempt-$count
  resume=()
  for ((k = count - 1; k >= 0; --k)); do
    has_checkpoints "$folder/attempt-$k" || continue
    resume=(--resume "$folder/attempt-$k")
    break
  done
  "$ako" launch "$cluster_file" --plain --output-dir "$results" "${options[@]}" \
    "${resume[@]}" -- "${program[@]}" &
  launch=$!
  while :; do
    wait "$launch"
    status=$?
    kill -0 "$launch" 2> /dev/null || break # else it was a signal that ended the wait
  done
  wait "$launch" 2> /dev/null
  again=$?
  ((again == 127)) || status=$again
}

can_go_on() {
  [[ $requeue_always == yes || ${#resume[@]} -gt 0 ]] || has_checkpoints "$results"
}

if [[ $broadcast ]]; then
  if ! send_data; then
    echo "ako: the data could not be copied to the nodes: is there room in their /tmp?"
    exit 2
  fi
  options+=(--set "data.path=$data_there")
fi

# 5: a peer was lost that the mode cannot go on without. All begin again from where they were.
for ((tries = 0; tries <= again_max; ++tries)); do
  start_and_wait
  ((status == 5)) && can_go_on || break
  a_peer_is_lost=yes
  echo "ako: a peer was lost that the others cannot do without: all go on from a checkpoint"
done

drop_data

# What the run left is found in its own folder, whichever attempt it is of.
for file in "$folder"/*; do
  [[ -L $file && $(readlink "$file") == attempt-* ]] && rm "$file"
done
for file in "$results"/*; do
  [[ -e $file && ${file##*/} != config.yaml ]] && ln -s "${file#"$folder"/}" "$folder/"
done

job=$SLURM_JOB_ID
[[ -z $SLURM_ARRAY_TASK_ID ]] || job=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
# A job that ends in the time that a preemption leaves it has ended for good, as Slurm sees it.
said=$(scontrol show job --oneliner "$job")
why=
[[ -z $a_peer_is_lost ]] || why="a peer was lost"
[[ $said != *JobState=RUNNING*PreemptTime=[0-9]* ]] || why="it was preempted"
[[ -z $time_is_over ]] || why="its time is over"
[[ -z $cancelled && $said == *JobState=RUNNING* ]] || why=
if [[ $why && $status -ne 0 ]]; then
  if ! can_go_on; then
    echo "ako: $why, and there is no checkpoint to go on from: training.checkpoint_every keeps some"
  elif ((requeues >= requeues_max)); then
    echo "ako: $why, and the job has been queued again $requeues times already"
  else
    echo "ako: $why: the job is queued again, to go on from its newest checkpoint"
    trap - TERM
    scontrol requeue "$job" && exec sleep 60 # until Slurm ends it
  fi
fi
exit "$status"
