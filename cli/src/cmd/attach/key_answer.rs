//! What keys of the line of keys show: each is one line for the person.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Zoned;
use termd_client::Link;
use termd_client::escape::escaped;
use termd_client::question::asker;
use termd_picture::{CursorDrawing, Format, Look};
use termd_proto::TerminalRef;
use termd_proto::palette::Theme;
use termd_proto::screen::ReadScreen;
use termd_proto::terminal::{AttachMode, TerminalInfo, Viewer};

use crate::cmd::show::show;
use crate::error::CliError;

/// The size of a picture's letters, as `termctl screenshot` has them by default.
const FONT_SIZE: u16 = 16;

/// Who is attached.
pub(super) async fn viewers(link: &Link, id: &TerminalRef) -> String {
    match show(link, id).await {
        Ok(info) => {
            let here: Vec<String> = info.viewers.iter().map(described).collect();
            here.join("  ")
        }
        Err(error) => error.to_string(),
    }
}

/// One viewer in a few words.
fn described(viewer: &Viewer) -> String {
    let name = escaped(&asker(&viewer.by));
    let own = if viewer.by.pid == i32::try_from(std::process::id()).unwrap_or(0) {
        "you"
    } else {
        name.as_str()
    };
    let size = viewer.cols.zip(viewer.rows);
    let size = size.map(|(cols, rows)| format!(" {cols}x{rows}"));
    let watches = match viewer.mode {
        AttachMode::Watch => " watches",
        AttachMode::Type => "",
    };
    format!(
        "{own} (pid {}){}{watches}",
        viewer.by.pid,
        size.unwrap_or_default()
    )
}

/// Takes a picture of the screen into a new file of the working directory, and names it.
pub(super) async fn screenshot(link: &Link, info: &TerminalInfo) -> String {
    match picture(link, info).await {
        Ok(path) => format!("picture: {}", escaped(&path.display().to_string())),
        Err(error) => error.to_string(),
    }
}

async fn picture(link: &Link, info: &TerminalInfo) -> Result<PathBuf, CliError> {
    let screen = link
        .repeat(&ReadScreen::of(TerminalRef::from(&info.id)))
        .await?
        .screen;
    let look = Look {
        theme: Theme::DARK,
        font_size: FONT_SIZE,
        cursor: CursorDrawing::AsShown,
    };
    let picture = termd_picture::draw(&screen, &look, Format::Png)?;
    let name = info
        .label
        .as_ref()
        .map_or(info.id.as_str(), |label| label.as_str());
    let time = Zoned::now().strftime("%Y%m%d-%H%M%S").to_string();
    let path = env::current_dir()
        .unwrap_or_default()
        .join(format!("{}-{time}.png", name.replace('/', "_")));
    write_new(&path, &picture.bytes).map_err(|source| CliError::Unwritable {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}

/// Writes a file that was not there.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What a terminal shows is for its user alone.
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}
