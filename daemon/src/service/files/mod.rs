//! Reading and writing files for a terminal's clients: judged like a command, confined like the
//! terminal, and recorded.
//!
//! **Promises:** the server opens no file of the user's. A child of the keeper does, under the
//! profiles of the terminal and of the client's front together. The path that is judged has no link
//! in it, and the child follows none. Nothing is written before its record is on the disk.

mod content;
mod operator;
mod paths;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, json};
use termd_proto::file::{FoundFile, WriteMode, WrittenFile};
use termd_proto::terminal::{Owner, TerminalState};

use self::content::FileContent;
use self::operator::Done;
use self::paths::{absolute, lossy};
use super::audit_log::AuditLog;
use super::disk::Disk;
use super::gate::{Asker, Gate, NewCommand, PolicyInForce, TerminalUse};
use super::random::random_bits;
use super::sandbox::{SandboxLease, Sandboxes};
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::error::TerminalError;
use crate::terminal::file_error::FileError;
use crate::terminal::handle::Terminal;
use crate::terminal::input::foreground::foreground_process;
use crate::terminal::wait::pattern::Pattern;
use termd_keeper::protocol::file_operation::{self as keeper, FileAction, Target};
use termd_policy::{CompiledGate, Profile, command_text};
use termd_proto::TerminalId;

pub(crate) use self::content::ContentSource;
pub(crate) use self::operator::{FileOperator, is_file_operation};
pub(crate) use self::paths::OwnDirectories;

/// Reads and writes files.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) gate: Arc<Gate>,
    pub(crate) policy: Arc<PolicyInForce>,
    pub(crate) sandboxes: Sandboxes,
    pub(crate) operator: FileOperator,
    pub(crate) disk: Arc<Disk>,
    pub(crate) audit: AuditLog,
}

/// Who wants something done with a file, and what they have said.
#[derive(Debug, Clone)]
pub(crate) struct FileClient {
    pub(crate) owner: Owner,
    /// What the connection has set for the gate.
    pub(crate) gate: Arc<CompiledGate>,
    /// Whether the caller says that a person has agreed.
    pub(crate) confirmed: bool,
    /// Whether the client can ask its person.
    pub(crate) asks: bool,
}

/// A file that is to be written.
#[derive(Debug)]
pub(crate) struct NewFile {
    /// As it was given. A relative path is seen from the directory of the terminal's program.
    pub(crate) path: String,
    pub(crate) mode: WriteMode,
    /// Whether the last name of the path may be a link.
    pub(crate) follow_link: bool,
    pub(crate) content: ContentSource,
}

/// A use of a file, as it is judged and recorded.
struct FileUse<'a> {
    action: AuditAction,
    target: Target,
    /// The command that would do the same with this path.
    argv: &'a (dyn Fn(&Path) -> Vec<String> + Sync),
    /// What the question says besides the command.
    note: String,
    detail: Map<String, serde_json::Value>,
}

impl FileUse<'_> {
    /// The command as a shell line. An approval of it is for the note, too.
    fn line(&self, path: &Path) -> String {
        format!("{}{}", command_text(&(self.argv)(path)), self.note)
    }
}

/// A use that is allowed and recorded.
struct AllowedUse {
    /// Without links.
    path: PathBuf,
    lease: SandboxLease,
}

impl Files {
    /// Writes a file. Must not be dropped half-way: run it in a task.
    pub(crate) async fn write(
        &self,
        terminal: &Terminal,
        file: NewFile,
        client: &FileClient,
    ) -> Result<WrittenFile, TerminalError> {
        self.check_terminal(terminal, client).await?;
        let _turn = self.operator.turn().await?;
        self.disk.check_room()?;
        // Not before its turn: it may be long.
        let content = FileContent::new(file.content, terminal).await?;
        let (mode, option) = match file.mode {
            WriteMode::Replace => (keeper::WriteMode::Replace, None),
            WriteMode::Append => (keeper::WriteMode::Append, Some("-a")),
            WriteMode::Create => (keeper::WriteMode::Create, None),
        };
        let argv = |path: &Path| {
            let words = ["tee"].into_iter().chain(option).map(str::to_owned);
            words.chain(["--".to_owned(), lossy(path)]).collect()
        };
        let (bytes, sha256) = (content.bytes, content.sha256());
        let detail = [
            ("bytes", json!(bytes)),
            ("sha256", json!(sha256)),
            ("mode", json!(file.mode)),
        ];
        let file_use = FileUse {
            action: AuditAction::FileWrite,
            target: if file.follow_link {
                Target::File
            } else {
                Target::NoLink
            },
            argv: &argv,
            note: format!(" # {bytes} bytes, SHA-256 {sha256}"),
            detail: detail
                .map(|(key, value)| (key.to_owned(), value))
                .into_iter()
                .collect(),
        };
        let allowed = self.allow(terminal, &file.path, file_use, client).await?;
        let action = FileAction::Write(mode);
        let content = Some(content.into_fd());
        let done = self
            .operate(terminal, client, allowed, action, content)
            .await?;
        Ok(WrittenFile {
            path: lossy(&done.path),
            bytes,
            size: done.bytes,
            sha256,
        })
    }

    /// Whether a file is there, and holds a match of the pattern. Must not be dropped half-way: run it
    /// in a task.
    pub(crate) async fn search(
        &self,
        terminal: &Terminal,
        path: &str,
        pattern: Option<&str>,
        client: &FileClient,
    ) -> Result<FoundFile, TerminalError> {
        self.check_terminal(terminal, client).await?;
        let _turn = self.operator.turn().await?;
        let compiled = pattern.map(|text| Pattern::of_param("pattern", text));
        let compiled = compiled.transpose()?;
        let argv = |path: &Path| {
            let path = lossy(path);
            let words = match pattern {
                Some(pattern) => vec!["grep", "-q", "-e", pattern, "--", &path],
                None => vec!["test", "-e", &path],
            };
            words.into_iter().map(str::to_owned).collect()
        };
        let file_use = FileUse {
            action: AuditAction::FileRead,
            target: Target::Existing,
            argv: &argv,
            note: String::new(),
            detail: Map::new(),
        };
        let allowed = self.allow(terminal, path, file_use, client).await?;
        let Some(pattern) = compiled else {
            // To be allowed it had to be found.
            return Ok(FoundFile {
                path: lossy(&allowed.path),
                matched: true,
            });
        };
        let done = self.operate(terminal, client, allowed, FileAction::Read, None);
        let Done { path, read, .. } = done.await?;
        let search = move || pattern.find(&String::from_utf8_lossy(&read)).is_some();
        let matched = tokio::task::spawn_blocking(search).await;
        Ok(FoundFile {
            path: lossy(&path),
            matched: matched.map_err(|_| TerminalError::Stopping)?,
        })
    }

    /// Checks that the terminal is there, and that the client may use it.
    async fn check_terminal(
        &self,
        terminal: &Terminal,
        client: &FileClient,
    ) -> Result<(), TerminalError> {
        if terminal.state() == TerminalState::Closed {
            return Err(TerminalError::NotFound(terminal.id().to_string()));
        }
        self.gate
            .check_use(terminal, TerminalUse::Input, client.asker())
            .await
    }

    /// Finds where a path leads, has that judged, and records it. Fails where there is no such path or
    /// the use is not allowed.
    async fn allow(
        &self,
        terminal: &Terminal,
        given: &str,
        file_use: FileUse<'_>,
        client: &FileClient,
    ) -> Result<AllowedUse, TerminalError> {
        let foreground = foreground_process(terminal).await;
        let cwd = foreground.and_then(|process| process.cwd);
        let cwd = PathBuf::from(cwd.unwrap_or_else(|| terminal.record.cwd.clone()));
        let path = absolute(&cwd, given)?;
        let action = file_use.action;
        let mut detail = file_use.detail.clone();
        detail.insert("path".to_owned(), lossy(&path).into());
        let line = file_use.line(&path);
        let profile =
            tokio::task::block_in_place(|| self.gate.profile_of(&client.command(&line, &cwd)));
        let (profile, lease) = match self.confine(terminal, profile).await {
            Ok(confined) => confined,
            Err(error) => return Err(self.not_done(terminal, client, action, detail, error).await),
        };
        let resolve = FileAction::Resolve(file_use.target);
        let resolved = self.operator.run(resolve, &path, &lease, None).await;
        let real = resolved.as_ref().map_or(&path, |done| &done.path).clone();
        // No question is asked about what cannot be done.
        let is_write = action == AuditAction::FileWrite;
        let impossible = if is_write && lease.protects(&real) {
            let (path, profiles) = (lossy(&real), profile.names.join(", "));
            Some(FileError::Protected { path, profiles })
        } else if is_write && self.operator.excludes_writing(&real) {
            Some(FileError::excluded(lossy(&real)))
        } else {
            None
        };
        if let Some(error) = impossible {
            return Err(self
                .not_done(terminal, client, action, detail, error.into())
                .await);
        }
        let line = file_use.line(&real);
        let judge = || self.gate.judge_creation(&client.command(&line, &cwd));
        let (ruling, by_real_path) = tokio::task::block_in_place(judge)?;
        detail.insert("path".to_owned(), lossy(&real).into());
        detail.insert("command".to_owned(), line.clone().into());
        detail.extend(ruling.detail());
        if !ruling.allows() {
            let outcome = ruling.outcome();
            self.record(terminal, client, action, outcome, detail)
                .await?;
            return Err(ruling.into_error());
        }
        if let Err(error) = resolved {
            return Err(self.not_done(terminal, client, action, detail, error).await);
        }
        // A rule may have another profile for the path that this one leads to.
        let stricter = profile.merge(by_real_path);
        let (profile, lease) = match self.confine(terminal, stricter).await {
            Ok(confined) => confined,
            Err(error) => return Err(self.not_done(terminal, client, action, detail, error).await),
        };
        if !profile.names.is_empty() {
            detail.insert("profiles".to_owned(), json!(profile.names));
        }
        let outcome = AuditOutcome::Ok;
        self.record(terminal, client, action, outcome, detail)
            .await?;
        Ok(AllowedUse { path: real, lease })
    }

    /// Does what is allowed, and records what came of it.
    async fn operate(
        &self,
        terminal: &Terminal,
        client: &FileClient,
        AllowedUse { path, lease }: AllowedUse,
        action: FileAction,
        content: Option<std::os::fd::OwnedFd>,
    ) -> Result<Done, TerminalError> {
        let done = self.operator.run(action, &path, &lease, content).await;
        let detail = [("path".to_owned(), lossy(&path).into())];
        let mut detail = Map::from_iter(detail);
        let outcome = match &done {
            Ok(done) => {
                detail.insert("size".to_owned(), done.bytes.into());
                AuditOutcome::Ok
            }
            Err(error) => AuditOutcome::NotDone(error.to_string()),
        };
        let action = AuditAction::FileDone;
        let recorded = self.record(terminal, client, action, outcome, detail);
        if let Err(error) = recorded.await {
            // The record of what was about to be done is there.
            tracing::error!(terminal = %terminal.id(), %error, "cannot record what came of a file");
        }
        done
    }

    async fn record(
        &self,
        terminal: &Terminal,
        client: &FileClient,
        action: AuditAction,
        outcome: AuditOutcome,
        detail: Map<String, serde_json::Value>,
    ) -> Result<(), TerminalError> {
        let (owner, id) = (&client.owner, Some(terminal.id()));
        self.audit.record(action, outcome, owner, id, detail).await
    }

    /// Records that a use did not come about. Returns the error for the client.
    async fn not_done(
        &self,
        terminal: &Terminal,
        client: &FileClient,
        action: AuditAction,
        detail: Map<String, serde_json::Value>,
        error: TerminalError,
    ) -> TerminalError {
        let outcome = AuditOutcome::NotDone(error.to_string());
        let recorded = self.record(terminal, client, action, outcome, detail).await;
        recorded.err().unwrap_or(error)
    }

    /// A profile together with that of the terminal, the stricter of each thing, and what a command
    /// in the terminal would be held to by it. The workspace has to be the one that the terminal was
    /// started in: a program in there can put a link to another place where it was.
    async fn confine(
        &self,
        terminal: &Terminal,
        other: Profile,
    ) -> Result<(Profile, SandboxLease), TerminalError> {
        let unconfinable = |profiles: &[String], problem: &str| TerminalError::Unconfinable {
            profiles: profiles.join(", "),
            problem: problem.to_owned(),
        };
        let held_to = terminal.record.held_to.as_ref();
        let names = held_to.map_or(&[][..], |held_to| &held_to.profiles);
        let (front, _) = terminal.record.owner.judged_as();
        let own = self.policy.get().profile_named(names, front);
        let own =
            own.ok_or_else(|| unconfinable(names, "config.toml has no such profile any more"))?;
        let profile = own.merge(other);
        let id = TerminalId::from_random(random_bits()?);
        let (sandboxes, cwd) = (self.sandboxes.clone(), terminal.record.cwd.clone());
        let lease = move || {
            let lease = sandboxes.lease(&id, &profile, Path::new(&cwd))?;
            Ok::<_, TerminalError>((profile, lease))
        };
        let leased = tokio::task::spawn_blocking(lease).await;
        let (profile, lease) = leased.map_err(|_| TerminalError::Stopping)??;
        let is_sandboxed = held_to.is_some_and(|held_to| !held_to.sandbox.is_empty());
        if is_sandboxed && lease.workspace != terminal.record.workspace {
            let problem = "the terminal's workspace is at another place by now";
            return Err(unconfinable(&profile.names, problem));
        }
        Ok((profile, lease))
    }
}

impl FileClient {
    fn asker(&self) -> Asker<'_> {
        Asker {
            owner: &self.owner,
            confirmed: self.confirmed,
            asks: self.asks,
        }
    }

    /// A command of this client, to be judged.
    fn command<'a>(&'a self, line: &'a str, cwd: &'a Path) -> NewCommand<'a> {
        NewCommand {
            asker: self.asker(),
            line: Some(line),
            argv: &[],
            agent_line: None,
            cwd,
            env: &[],
            all_env: &[],
            gate: &self.gate,
        }
    }
}
