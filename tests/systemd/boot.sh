# Makes a root file system of its own over the machine's, and boots systemd on it as PID 1.
#
# Runs as root in fresh mount, PID, network, UTS, IPC and cgroup namespaces. Whatever it mounts or
# writes is in those namespaces or on a tmpfs of theirs, and is gone with their last process.
#
# boot.sh STATE USER: STATE is a directory of the caller's with `lay` and `root` (empty), `share`
# (bound to /run/termd-test inside) and `install` (copied into USER's home).
set -eu
state=$1 user=$2 root=$1/root

mount -t tmpfs -o mode=0755 termd-test "$state/lay"
mkdir "$state/lay/upper" "$state/lay/work"
mount -t overlay -o "lowerdir=/,upperdir=$state/lay/upper,workdir=$state/lay/work" termd-test "$root"

mount -t proc proc "$root/proc"
# Nothing inside may set a sysctl of the real kernel.
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"

mount -t tmpfs -o mode=0755,nosuid termd-test "$root/dev"
mkdir "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 termd-test "$root/dev/shm"
mount -t tmpfs -o mode=0755 termd-test "$root/run"
mount -t tmpfs -o mode=1777 termd-test "$root/tmp"
mkdir "$root/run/termd-test"
mount --bind "$state/share" "$root/run/termd-test"

# The machine's own mounts and units are none of this one's: boot only what a login session needs.
: >"$root/etc/fstab"
rm -f "$root/etc/machine-id"
: >"$root/etc/machine-id"
cat >"$root/etc/systemd/system/termd-test.target" <<'UNIT'
[Unit]
Wants=dbus.service systemd-logind.service systemd-user-sessions.service
After=dbus.service systemd-logind.service systemd-user-sessions.service
UNIT
for unit in systemd-udevd systemd-udev-trigger systemd-sysctl systemd-modules-load \
    systemd-timesyncd systemd-networkd systemd-resolved; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit.service"
done
# `journalctl --user` reads per-user files, which only a persistent journal has.
rm -rf "$root/var/log/journal"
mkdir -p "$root/var/log/journal" "$root/var/lib/systemd/linger"

chroot "$root" useradd --create-home --shell /bin/bash "$user"
: >"$root/var/lib/systemd/linger/$user"
home=$(chroot "$root" getent passwd "$user" | cut -d: -f6)
cp -a "$state/install/." "$root$home/"
chroot "$root" chown -R "$user:" "$home"

cd "$root"
mkdir -p run/termd-test-old
pivot_root . run/termd-test-old
umount -l /run/termd-test-old

: >/run/termd-test/set-up
systemd=/usr/lib/systemd/systemd
[ -x "$systemd" ] || systemd=/lib/systemd/systemd
exec env -i container=termd-test NOTIFY_SOCKET=/run/termd-test/notify PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    "$systemd" --system --unit=termd-test.target --show-status=no --log-target=journal
