//! Programs that format, partition or remove disks and volumes.

use super::arguments::{any, verb};
use crate::shell::word::Word;

pub(crate) fn danger(program: &str, args: &[Word]) -> Option<String> {
    let said = |what: &str| Some(format!("{program} {what}"));
    let has_operand = args.iter().any(|word| !word.text.starts_with('-'));
    let (verb, rest) = verb(args, "").unwrap_or(("", &[]));
    match program {
        "dd" if args
            .iter()
            .any(|word| word.text.starts_with("of=") || word.text.starts_with("if=")) =>
        {
            said("writes raw blocks")
        }
        "mkfs" | "mke2fs" | "mkswap" | "mkntfs" | "mkdosfs" if has_operand => {
            said("formats a disk")
        }
        _ if program.starts_with("mkfs.") && has_operand => said("formats a disk"),
        "wipefs" if any(args, "-a --all -af -fa -o --offset") => {
            said("removes a file system's signature")
        }
        "blkdiscard" if has_operand => said("discards a device's blocks"),
        "parted" if has_operand && !any(args, "-l --list print") => said("changes partitions"),
        "fdisk" | "sfdisk" | "cfdisk" | "gdisk" | "sgdisk" | "diskpart"
            if has_operand && !any(args, "-l --list -d --dump -p --print -s") =>
        {
            said("changes partitions")
        }
        "lvremove" | "vgremove" | "pvremove" | "lvreduce" if has_operand => said("removes volumes"),
        "cryptsetup"
            if matches!(
                verb,
                "luksFormat"
                    | "erase"
                    | "luksErase"
                    | "format"
                    | "reencrypt"
                    | "luksRemoveKey"
                    | "luksKillSlot"
            ) =>
        {
            said("makes what is on a device unreadable")
        }
        "zfs" if matches!(verb, "destroy" | "rollback") => {
            said("destroys a file system or what is newer")
        }
        "zpool" if matches!(verb, "destroy" | "labelclear") => said("destroys a pool"),
        "btrfs" if verb == "subvolume" && any(rest, "delete") => said("removes a subvolume"),
        "mdadm" if any(args, "--zero-superblock --stop -S --fail") => said("takes an array apart"),
        "swapoff" if !args.is_empty() => said("takes memory away"),
        "umount" if args.iter().any(|word| is_forced(&word.text)) => said("by force can lose data"),
        "hdparm"
            if args
                .iter()
                .any(|word| word.text.starts_with("--security-erase")) =>
        {
            said("erases a disk")
        }
        "nvme" if matches!(verb, "format" | "sanitize") => said("erases a disk"),
        _ => None,
    }
}

fn is_forced(text: &str) -> bool {
    matches!(text, "--force" | "--lazy")
        || (text.starts_with('-') && !text.starts_with("--") && text.contains(['f', 'l']))
}
