#!/bin/bash
# Run mnist-lenet: 4 peers as one job of Slurm. Written by `ako submit`.
#
# `ako launch` finds the allocation and starts each peer as a step of its own, so that a node that
# is lost ends one peer and not the job. Where the time is over, all peers stop and agree, and the
# job queues itself again, to go on from its newest checkpoint; so it does where it is preempted.
# Whoever cancels it has the peers stop likewise, and then nothing is queued.
#SBATCH --job-name=mnist-lenet
#SBATCH --output="/srv/u/runs/mnist-lenet-20261129-120000/log-%a.txt"
#SBATCH --open-mode=append
#SBATCH --ntasks=5
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
peers=(p1 p2 p3 p4)
folder=/srv/u/runs/mnist-lenet-20261129-120000${SLURM_ARRAY_TASK_ID:+/run-$SLURM_ARRAY_TASK_ID}
cluster_file=/srv/u/runs/mnist-lenet-20261129-120000/config.yaml
requeues=${SLURM_RESTART_COUNT:-0}
results=$folder/attempt-$requeues
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

resume=()
for ((k = requeues - 1; k >= 0; --k)); do
  if has_checkpoints "$folder/attempt-$k"; then
    resume=(--resume "$folder/attempt-$k")
    break
  fi
done

options=()
options+=(--restart 3)
[[ -z $SLURM_ARRAY_TASK_ID ]] || options+=(--set "seed=$SLURM_ARRAY_TASK_ID")
program=()

time_is_over=
stop() { kill -"$1" "$launch" 2> /dev/null; }
trap 'stop TERM' TERM # to all processes or, as Slurm is set up, to this one alone
trap 'stop INT' USR2  # `ako cancel`
trap 'time_is_over=yes; stop INT' USR1

ako=/opt/ako/bin/ako
"$ako" launch "$cluster_file" --plain --output-dir "$results" "${options[@]}" "${resume[@]}" \
  -- "${program[@]}" &
launch=$!
while :; do
  wait "$launch"
  status=$?
  kill -0 "$launch" 2> /dev/null || break # else it was a signal that ended the wait
done
wait "$launch" 2> /dev/null
again=$?
((again == 127)) || status=$again

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
[[ $said != *JobState=RUNNING*PreemptTime=[0-9]* ]] || why="it was preempted"
[[ -z $time_is_over ]] || why="its time is over"
if [[ $why && $status -ne 0 ]]; then
  if [[ $requeue_always == no && ${#resume[@]} -eq 0 ]] && ! has_checkpoints "$results"; then
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
