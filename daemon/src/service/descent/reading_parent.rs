//! The program that reads what a process prints: the one to which an answer for that process goes.

use std::fs;
use std::path::Path;

use super::process::Stat;

/// The program of a process's parent, where the parent reads the process's standard output by a pipe: the
/// path of its file, or the name of one that root runs, such as sudo(8), whose descriptors cannot be
/// seen. Any other process may call itself what it likes, and one in a mount namespace of its own may have
/// put any file at a known path.
pub(crate) fn reading_parent(pid: i32) -> Option<String> {
    let parent = Stat::of(pid)?.parent;
    if is_hidden_root(parent)? || reads_from(parent, &standard_output(pid)?) {
        named_program(parent)
    } else {
        None
    }
}

/// The program of a process: the path of its file, or the name of one that root runs and whose file cannot
/// be seen. `None` for one in a mount namespace of its own.
pub(crate) fn named_program(pid: i32) -> Option<String> {
    if is_hidden_root(pid)? {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        return Some(name.trim_end().to_owned());
    }
    let mounts = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    if mounts(&pid.to_string())? != mounts("self")? {
        return None;
    }
    let file = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(file.to_string_lossy().into_owned())
}

/// Whether root runs a process, and the daemon is another user's.
fn is_hidden_root(pid: i32) -> Option<bool> {
    Some(effective_uid(pid)? == 0 && !rustix::process::geteuid().is_root())
}

/// The pipe that is a process's standard output, as `/proc/PID/fd` names it.
fn standard_output(pid: i32) -> Option<std::path::PathBuf> {
    let output = fs::read_link(format!("/proc/{pid}/fd/1")).ok()?;
    // A FIFO has a path.
    output
        .to_str()
        .is_some_and(|name| name.starts_with("pipe:["))
        .then_some(output)
}

/// Whether a process has the end of the pipe that is read from.
fn reads_from(pid: i32, pipe: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"));
    descriptors.into_iter().flatten().flatten().any(|fd| {
        let is_pipe = fs::read_link(fd.path()).is_ok_and(|file| file == pipe);
        is_pipe && is_read_end(pid, &fd.file_name().to_string_lossy())
    })
}

/// By the access mode in `/proc/PID/fdinfo/FD` (`proc_pid_fdinfo(5)`): octal, and of a reader 0.
fn is_read_end(pid: i32, fd: &str) -> bool {
    const ACCESS_MODE: u32 = 0o3;
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).unwrap_or_default();
    let mut flags = info.lines().filter_map(|line| line.strip_prefix("flags:"));
    let flags = flags
        .next()
        .map(|flags| u32::from_str_radix(flags.trim(), 8));
    matches!(flags, Some(Ok(flags)) if flags & ACCESS_MODE == 0)
}

/// The effective user of a process (`proc_pid_status(5)`). The owner of its directory does not tell: root
/// has that of each process that does not let itself be dumped.
fn effective_uid(pid: i32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    uids.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn asker(output: Stdio) -> Child {
        let mut command = Command::new("sleep");
        command.arg("60").stdout(output).spawn().unwrap()
    }

    #[test]
    fn the_parent_is_named_where_it_reads() {
        let own = std::env::current_exe().unwrap().display().to_string();
        let (reader, writer) = std::io::pipe().unwrap();
        let for_this = writer.try_clone().unwrap();
        for (output, named) in [
            (Stdio::piped(), Some(own)),
            (Stdio::null(), None),
            (Stdio::inherit(), None),
        ] {
            let mut child = asker(output);
            let pid = i32::try_from(child.id()).unwrap();
            let program = reading_parent(pid);
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(program, named);
        }
        // The parent has the end that is written to, and another one reads.
        let mut other = Command::new("sleep")
            .arg("60")
            .stdin(reader)
            .spawn()
            .unwrap();
        let mut child = asker(for_this.into());
        let program = reading_parent(i32::try_from(child.id()).unwrap());
        drop(writer);
        for process in [&mut child, &mut other] {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        assert_eq!(program, None);
    }
}
