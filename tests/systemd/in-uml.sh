#!/bin/sh
# Runs the systemd tests on a kernel of their own, User Mode Linux, whose unified hierarchy has the
# memory, cpu and pids controllers: for computers on which another hierarchy has them. Needs root and
# Debian's user-mode-linux and kmod.
#
# in-uml.sh TEST-PROGRAM [ARGUMENT...]: TEST-PROGRAM is what `cargo test --test systemd --no-run`
# names. Exits as it does. Everything is in memory and gone afterwards; the computer's files are
# only read.
set -eu
program=$(realpath "$1")
shift
command -v linux.uml >/dev/null || { echo "SKIP in-uml: no linux.uml (Debian: user-mode-linux)" >&2; exit 77; }
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
chmod 755 "$state"
cat >"$state/init" <<INIT
#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
echo "+cpu +io +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up 2>/dev/null
insmod "\$(find /usr/lib/uml/modules/\$(uname -r) -name overlay.ko)"
mount -t hostfs -o $state hostfs /mnt
mount -t tmpfs -o mode=755 tmpfs /run
cp /mnt/arguments /run/arguments
export TMPDIR=/run TERMD_REQUIRE_SYSTEMD=1 RUST_BACKTRACE=0
eval "set -- \$(cat /run/arguments)"
"$program" "\$@" --test-threads=1 2>&1
echo \$? >/mnt/code
sync
echo o >/proc/sysrq-trigger
while :; do sleep 1; done
INIT
chmod 755 "$state/init"
for argument; do printf "'%s' " "$argument"; done >"$state/arguments"
# All of the tests take six minutes on two busy processors.
timeout --kill-after=10 "${UML_SECONDS:-1800}" linux.uml mem="${UML_MEMORY:-2G}" root=/dev/root rootfstype=hostfs rootflags=/ ro quiet \
    init="$state/init" con=null con0=fd:0,fd:1 </dev/null
exit "$(cat "$state/code" 2>/dev/null || echo 1)"
