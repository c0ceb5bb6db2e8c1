//! The calls of the daemon that the overview makes, and what each says of how it went.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::{env, path::PathBuf};

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::approval::{AnswerApproval, AnswerWay, ApprovalId, ApprovalState, Decision};
use termd_proto::command::ReadCommand;
use termd_proto::glance::{Glance, GlanceAtTerminals};
use termd_proto::interact::{TypeInput, TypedInput};
use termd_proto::search::SearchOutput;
use termd_proto::secret::{AnswerSecret, Secret};
use termd_proto::terminal::{
    CloseTerminal, CreateTerminal, Encoding, KillTerminal, MAX_READ_BYTES, ShowTerminal,
    TagTerminal,
};
use termd_proto::{ErrorKind, Tags, TerminalId, TerminalRef};

use super::effect::Call;
use super::git_branch::branch_of;
use super::news::{GlanceWithBranch, News};
use super::surroundings::Typist;
use crate::clipboard::MAX_COPIED_BYTES;

/// Most hits of a search: more than a person looks through.
const MAX_HITS: u32 = 200;

/// Makes a call; says what came of it, where that is to be said.
pub(super) async fn make(
    link: &Arc<Link>,
    call: Call,
    typist: Typist,
    size: (u16, u16),
) -> Option<News> {
    let is_glance = matches!(call, Call::Glance(_));
    let said = match call {
        Call::Show(id) => return show(link, id).await,
        Call::Glance(ids) => glance(link, &ids).await,
        Call::Answer(id, decision) => answer(link, id, decision).await,
        Call::AnswerSecret(id, secret) => answer_secret(link, id, secret).await,
        Call::TypeLine(id, text) => type_line(link, &id, text, typist).await,
        Call::TypeSecret(id, secret) => type_secret(link, &id, &secret, typist).await,
        Call::Tag { id, add, remove } => tag(link, &id, add, remove).await,
        Call::Kill(id) => kill(link, &id).await,
        Call::Close(id) => close(link, &id).await,
        Call::Create { line, cwd } => create(link, line, cwd, typist, size).await,
        Call::Search(pattern) => search(link, pattern).await,
        Call::Copy(id) => copy(link, &id).await,
    };
    Some(match said {
        Ok(news) => news,
        // It is glanced again after the next output.
        Err(_) if is_glance => News::Glances(Vec::new()),
        Err(error) => News::Said(error.to_string()),
    })
}

async fn show(link: &Link, id: TerminalId) -> Option<News> {
    let request = ShowTerminal {
        id: TerminalRef::from(&id),
    };
    match link.repeat(&request).await {
        Ok(info) => Some(News::Shown(Box::new(info))),
        Err(ClientError::Refused(_)) => Some(News::Missing(id)),
        // Who looks for the daemon says so.
        Err(_) => None,
    }
}

async fn glance(link: &Link, ids: &[TerminalId]) -> Result<News, ClientError> {
    let ids = ids.iter().map(TerminalRef::from).collect();
    let glances = link.repeat(&GlanceAtTerminals { ids }).await?;
    // A file system that does not answer holds up the next glance, and nothing else.
    let seen = tokio::task::spawn_blocking(move || {
        let seen = glances.into_iter().map(with_branch);
        seen.collect()
    });
    Ok(News::Glances(seen.await.unwrap_or_default()))
}

fn with_branch(glance: Glance) -> GlanceWithBranch {
    let branch = glance
        .cwd
        .as_deref()
        .and_then(|cwd| branch_of(Path::new(cwd)));
    GlanceWithBranch { glance, branch }
}

async fn answer(link: &Link, id: ApprovalId, decision: Decision) -> Result<News, ClientError> {
    let request = AnswerApproval {
        id,
        decision,
        way: Some(AnswerWay::Prompt),
    };
    let said = match link.once(&request).await {
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::ApprovalAnswered) =>
        {
            "it was answered elsewhere".to_owned()
        }
        answered => {
            let info = answered?;
            match (&info.rule_at, info.state) {
                (Some((file, line)), _) => format!("{}: always, by {file}:{line}", info.id),
                (None, ApprovalState::Denied) => format!("{}: no", info.id),
                (None, _) => format!("{}: once", info.id),
            }
        }
    };
    Ok(News::Said(said))
}

async fn answer_secret(
    link: &Link,
    id: ApprovalId,
    secret: Option<Secret>,
) -> Result<News, ClientError> {
    let said = if secret.is_some() {
        "the secret is given"
    } else {
        "no secret is given"
    };
    link.once(&AnswerSecret { id, secret }).await?;
    Ok(News::Said(said.to_owned()))
}

async fn type_line(
    link: &Link,
    id: &TerminalId,
    text: String,
    typist: Typist,
) -> Result<News, ClientError> {
    let input = TypedInput {
        text: (!text.is_empty()).then_some(text),
        enter: true,
        ..TypedInput::default()
    };
    type_input(link, id, input, typist).await?;
    Ok(News::Said("typed".to_owned()))
}

async fn type_secret(
    link: &Link,
    id: &TerminalId,
    secret: &Secret,
    typist: Typist,
) -> Result<News, ClientError> {
    let input = TypedInput {
        text: Some(secret.reveal().to_owned()),
        enter: true,
        secret: true,
        ..TypedInput::default()
    };
    type_input(link, id, input, typist).await?;
    Ok(News::Said("the secret is typed".to_owned()))
}

async fn type_input(
    link: &Link,
    id: &TerminalId,
    input: TypedInput,
    typist: Typist,
) -> Result<(), ClientError> {
    let request = TypeInput {
        id: TerminalRef::from(id),
        input,
        confirmed: Some(typist == Typist::Person),
        timeout_ms: None,
    };
    link.once(&request).await.map(drop)
}

async fn tag(link: &Link, id: &TerminalId, add: Tags, remove: Tags) -> Result<News, ClientError> {
    let id = TerminalRef::from(id);
    let info = link.once(&TagTerminal { id, add, remove }).await?;
    Ok(News::Shown(Box::new(info)))
}

async fn kill(link: &Link, id: &TerminalId) -> Result<News, ClientError> {
    let request = KillTerminal {
        id: TerminalRef::from(id),
        signal: None,
    };
    link.once(&request).await?;
    Ok(News::Said("ended".to_owned()))
}

async fn close(link: &Link, id: &TerminalId) -> Result<News, ClientError> {
    let request = CloseTerminal {
        id: TerminalRef::from(id),
        eof_ms: None,
    };
    link.repeat(&request).await?;
    Ok(News::Said("closed".to_owned()))
}

/// Starts a shell line, or a shell, with the overview's own environment and size.
async fn create(
    link: &Link,
    line: String,
    cwd: Option<String>,
    typist: Typist,
    (cols, rows): (u16, u16),
) -> Result<News, ClientError> {
    let attach = line.is_empty();
    // JSON cannot hold a variable that is not UTF-8.
    let base_env: BTreeMap<String, String> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let here = env::current_dir().ok().map(PathBuf::into_os_string);
    let here = here.and_then(|here| here.into_string().ok());
    let request = CreateTerminal {
        command: (!attach).then_some(line),
        cwd: cwd.or(here),
        base_env: Some(base_env),
        cols: Some(cols),
        rows: Some(rows),
        confirmed: typist == Typist::Person,
        ..CreateTerminal::default()
    };
    let info = Box::new(link.once(&request).await?);
    Ok(News::Created { info, attach })
}

async fn search(link: &Link, pattern: String) -> Result<News, ClientError> {
    let request = SearchOutput {
        pattern,
        limit: Some(MAX_HITS),
        ..SearchOutput::default()
    };
    let page = link.repeat(&request).await?;
    Ok(News::Found {
        is_cut: page.next_cursor.is_some(),
        hits: page.hits,
    })
}

async fn copy(link: &Link, id: &TerminalId) -> Result<News, ClientError> {
    let request = ReadCommand {
        id: TerminalRef::from(id),
        number: -1,
        since: None,
        max_bytes: Some(MAX_READ_BYTES),
        encoding: Some(Encoding::Text),
        times: None,
    };
    let read = link.repeat(&request).await?;
    let text = read.text.unwrap_or_default();
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_COPIED_BYTES));
    let (kept, is_cut) = (text[from..].to_owned(), from > 0 || !read.at_end);
    let lines = kept.lines().count();
    let said = match (lines, is_cut) {
        (0, _) => "the last command has printed nothing".to_owned(),
        (_, true) => format!("copied {lines} lines, not all"),
        (1, false) => "copied 1 line".to_owned(),
        (_, false) => format!("copied {lines} lines"),
    };
    Ok(News::Copied { text: kept, said })
}
