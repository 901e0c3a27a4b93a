#!/usr/bin/env bash
# A real Slurm on this one machine for the tests: fake GPUs, preemption, no systemd, no accounting.
# Debian's packages slurm-wlm and munge are all it needs. As root: tests/cluster/slurm.sh up <folder> | down <folder>
set -euo pipefail
folder=$2
gpus=2 cpus=4 memory_mb=16000
host=$(hostname -s)
mark="# written by warlab's tests"

# Never touch the configuration of a Slurm that somebody uses.
ours() { [ ! -e /etc/slurm/slurm.conf ] || grep -q "^$mark" /etc/slurm/slurm.conf; }

configure() {
  mkdir -p "$folder"/{state,spool,log,gpu} /etc/slurm
  # Character devices that behave like the null device are GPUs enough for Slurm to hand them out and number them.
  for ((i = 0; i < gpus; i++)); do [ -e "$folder/gpu/nvidia$i" ] || mknod "$folder/gpu/nvidia$i" c 1 3; done
  # In /etc/slurm, because the executor plugin deletes SLURM_CONF from the environment of jobs.
  cat >/etc/slurm/slurm.conf <<CONF
$mark
ClusterName=warlab
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
ReturnToService=2
KillWait=5
MinJobAge=300
AccountingStorageType=accounting_storage/none
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory_mb Gres=gpu:$gpus State=UNKNOWN
PartitionName=gpu  Nodes=$host Default=YES MaxTime=1-0 DefMemPerCPU=200 State=UP PriorityTier=1  PreemptMode=REQUEUE
PartitionName=high Nodes=$host             MaxTime=1-0 DefMemPerCPU=200 State=UP PriorityTier=10 PreemptMode=OFF
CONF
  printf 'AutoDetect=off\nNodeName=%s Name=gpu File=%s/gpu/nvidia[0-%d]\n' "$host" "$folder" $((gpus - 1)) >/etc/slurm/gres.conf
  # With linuxproc and task/none no cgroup is used; slurmd asks for a version all the same.
  printf 'CgroupPlugin=cgroup/v1\n' >/etc/slurm/cgroup.conf
}

start_munge() {
  install -d -o munge -g munge -m 755 /run/munge
  install -d -o munge -g munge -m 700 /var/log/munge /var/lib/munge
  setpriv --reuid=munge --regid=munge --clear-groups munged --pid-file=/run/munge/munged.pid
  touch "$folder/own-munge"
}

up() {
  ours || { echo "/etc/slurm/slurm.conf is somebody's: not touched" >&2; exit 3; }
  configure
  munge -n >/dev/null 2>&1 || start_munge
  slurmctld
  slurmd
  for _ in $(seq 300); do
    [ "$(sinfo -hN -o %t 2>/dev/null | head -1)" = idle ] && exit 0
    sleep .1
  done
  echo "Slurm did not come up; see $folder/log" >&2
  exit 1
}

# By the numbers that the daemons wrote down, and nobody else's.
end() {
  [ -f "$1" ] || return 0
  local number
  number=$(cat "$1")
  kill "$number" 2>/dev/null || true
  for _ in $(seq 100); do kill -0 "$number" 2>/dev/null || return 0; sleep .1; done
}

down() {
  ours || exit 3
  scancel --quiet -u root 2>/dev/null || true
  for _ in $(seq 200); do [ -z "$(squeue -h 2>/dev/null)" ] && break; sleep .1; done # its processes would outlive it
  end "$folder/slurmd.pid"
  end "$folder/slurmctld.pid"
  [ ! -e "$folder/own-munge" ] || end /run/munge/munged.pid
  rm -f /etc/slurm/slurm.conf /etc/slurm/gres.conf /etc/slurm/cgroup.conf
}

"$1"
