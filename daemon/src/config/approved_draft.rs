//! Another approved.toml, with one rule more.
//!
//! **Promises:** the file is whole or not there: a new file, synced, replaces the old one.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::approved::{ApprovedError, NAME, io_error, open_directory, parse, read, unfit};
use super::approved_in_force::approved_text;
use super::kept_text::hash;
use termd_policy::Approved;

/// The name of a draft.
const DRAFT_NAME: &str = ".approved.toml.next";
/// What a new file begins with.
const HEAD: &str = "\
# What termd does not ask about again: somebody answered \"always\". Each rule is for one command,
# client and directory, to the letter. Delete a rule to be asked again, and then let termd read
# this: systemctl --user reload termd
";

/// Another approved.toml, written beside it and not yet in its place.
#[derive(Debug)]
pub struct Draft {
    directory: OwnedFd,
    file: PathBuf,
    /// The whole text.
    pub text: String,
    /// The rules of the text, compiled.
    pub approved: Approved,
    /// SHA-256 of the text in its place.
    pub old: String,
    /// SHA-256 of this text.
    pub new: String,
    is_in_place: bool,
}

impl Draft {
    /// Writes the text in force and another rule: `rule` as TOML, with a line for each of `remarks` above
    /// it. Refuses where the text in its place is another one: no person has agreed to that.
    pub fn prepare(
        file: &Path,
        state_dir: &Path,
        rule: &str,
        remarks: &[String],
    ) -> Result<Self, ApprovedError> {
        let parent = file.parent().unwrap_or(file);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|source| io_error("make", parent, source))?;
        let directory = open_directory(parent)?;
        let before = read(&directory, file)?;
        let count = parse(&before, file)?.len();
        if before != approved_text(state_dir) {
            return Err(unfit(
                file,
                "has changed since termd has read it: reload termd first",
            ));
        }
        let mut text = before.clone();
        if text.is_empty() {
            text.push_str(HEAD);
        } else if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
        for remark in remarks {
            // A remark has one line, whatever stands in it.
            let remark: String = remark.chars().filter(|c| !c.is_control()).collect();
            text.push_str("# ");
            text.push_str(&remark);
            text.push('\n');
        }
        text.push_str(rule);
        let approved = parse(&text, file)?;
        if approved.len() != count + 1 {
            return Err(unfit(file, "it does not hold what was written into it"));
        }
        let draft = Self {
            old: hash(&before),
            new: hash(&text),
            directory,
            file: file.to_owned(),
            text,
            approved,
            is_in_place: false,
        };
        draft.write()?;
        Ok(draft)
    }

    fn write(&self) -> Result<(), ApprovedError> {
        let failed = |source: io::Error| io_error("write", &self.file, source);
        match unlinkat(&self.directory, DRAFT_NAME, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => return Err(failed(error.into())),
            // A server that died may have left one.
            _ => {}
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        let next = openat(&self.directory, DRAFT_NAME, flags | OFlags::CLOEXEC, mode);
        let mut next = File::from(next.map_err(|error| failed(error.into()))?);
        next.write_all(self.text.as_bytes()).map_err(failed)?;
        next.sync_all().map_err(failed)
    }

    /// Puts the draft in its place, for good.
    pub fn put_in_place(&mut self) -> Result<(), ApprovedError> {
        let failed = |error: Errno| io_error("write", &self.file, error.into());
        renameat(&self.directory, DRAFT_NAME, &self.directory, NAME).map_err(failed)?;
        self.is_in_place = true;
        rustix::fs::fsync(&self.directory).map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The next draft removes what cannot be removed now.
            let _ = unlinkat(&self.directory, DRAFT_NAME, AtFlags::empty());
        }
    }
}
