//! Each terminal as two resources: its screen, and its output.

use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, SubscriptionFilter,
};
use serde_json::json;
use termd_client::ClientError;
use termd_client::escape::marked;
use termd_client::refusal::kind_of;
use termd_proto::screen::{ReadScreen, ScreenFormat};
use termd_proto::terminal::{
    Encoding, ListTerminals, MAX_READ_BYTES, ReadFrom, ReadTerminal, TerminalInfo,
};
use termd_proto::{ErrorKind, TerminalId, TerminalRef};

use super::bad_cursor;
use crate::backend::Backend;

/// The beginning of every resource's URI.
const PREFIX: &str = "termd://terminal/";
/// The resources are plain text.
const MIME_TYPE: &str = "text/plain";
/// Terminals on one page of the list: two resources each.
const PAGE: u32 = 100;

/// One of a terminal's two resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Screen,
    Transcript,
}

/// The terminal and the view that a URI names.
fn parse(uri: &str) -> Option<(&str, View)> {
    let (named, view) = uri.strip_prefix(PREFIX)?.rsplit_once('/')?;
    let view = match view {
        "screen" => View::Screen,
        "transcript" => View::Transcript,
        _ => return None,
    };
    (!named.is_empty() && !named.contains('/')).then_some((named, view))
}

/// The URIs of a terminal's resources.
pub(crate) fn uris(id: &TerminalId) -> [String; 2] {
    ["screen", "transcript"].map(|view| format!("{PREFIX}{id}/{view}"))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("there is no {uri}: resources are {PREFIX}ID/screen and {PREFIX}ID/transcript"),
        Some(json!({ "uri": uri })),
    )
}

fn failed(uri: &str, error: &ClientError) -> ErrorData {
    match error {
        ClientError::Refused(refusal)
            if matches!(
                kind_of(refusal),
                Some(ErrorKind::TerminalNotFound | ErrorKind::TerminalAmbiguous)
            ) =>
        {
            ErrorData::resource_not_found(error.to_string(), Some(json!({ "uri": uri })))
        }
        _ => ErrorData::internal_error(error.to_string(), None),
    }
}

/// A page of the open terminals' resources.
pub(crate) async fn list(
    backend: &Backend,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let page = backend
        .pool()
        .repeat(&ListTerminals {
            cursor,
            limit: Some(PAGE),
            ..ListTerminals::default()
        })
        .await
        .map_err(|error| match &error {
            ClientError::Refused(refusal) if kind_of(refusal) == Some(ErrorKind::InvalidParams) => {
                bad_cursor()
            }
            _ => failed(PREFIX, &error),
        })?;
    let resources = page.terminals.iter().flat_map(resources_of).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = page.next_cursor;
    Ok(result)
}

fn resources_of(info: &TerminalInfo) -> [Resource; 2] {
    let name = info
        .label
        .as_ref()
        .map_or_else(|| info.id.to_string(), |label| label.as_str().to_owned());
    let argv = || info.argv.join(" ");
    let command = info.agent_line.clone().unwrap_or_else(argv);
    let command = marked(&command);
    let state = info.state.as_str();
    let [screen, transcript] = uris(&info.id);
    [
        Resource::new(screen, format!("{name} screen"))
            .with_description(format!("The screen of `{command}` ({state})"))
            .with_mime_type(MIME_TYPE),
        Resource::new(transcript, format!("{name} transcript"))
            .with_description(format!("All output of `{command}` ({state}) as plain text"))
            .with_mime_type(MIME_TYPE),
    ]
}

/// The URIs of any terminal's resources.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{PREFIX}{{id}}/screen"), "screen")
            .with_description("What a terminal's screen shows now; closed terminals' last screen")
            .with_mime_type(MIME_TYPE),
        ResourceTemplate::new(format!("{PREFIX}{{id}}/transcript"), "transcript")
            .with_description("The last MiB of a terminal's output as plain text")
            .with_mime_type(MIME_TYPE),
    ]
}

/// The text that a URI names.
pub(crate) async fn read(backend: &Backend, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let (named, view) = parse(uri).ok_or_else(|| unknown(uri))?;
    let id = TerminalRef(named.to_owned());
    let text = match view {
        View::Screen => screen(backend, &id).await,
        View::Transcript => transcript(backend, &id).await,
    }
    .map_err(|error| failed(uri, &error))?;
    let contents = ResourceContents::text(marked(&text), uri).with_mime_type(MIME_TYPE);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn screen(backend: &Backend, id: &TerminalRef) -> Result<String, ClientError> {
    let request = ReadScreen {
        format: Some(ScreenFormat::Text),
        ..ReadScreen::of(id.clone())
    };
    let answer = backend.pool().repeat(&request).await?;
    Ok(answer.rendering.unwrap_or_default())
}

async fn transcript(backend: &Backend, id: &TerminalRef) -> Result<String, ClientError> {
    let request = ReadTerminal {
        max_bytes: Some(MAX_READ_BYTES),
        encoding: Some(Encoding::Text),
        ..ReadTerminal::new(id.clone(), ReadFrom::TailBytes(MAX_READ_BYTES))
    };
    let answer = backend.pool().repeat(&request).await?;
    Ok(answer.text.unwrap_or_default())
}

/// The terminal that a URI names.
pub(crate) async fn check(backend: &Backend, uri: &str) -> Result<TerminalId, ErrorData> {
    let (named, _) = parse(uri).ok_or_else(|| unknown(uri))?;
    match backend.show(named).await {
        Ok(info) => Ok(info.id),
        Err(error) => Err(failed(uri, &error)),
    }
}

/// The part of a subscription that is served: changes of the list and of termd's resources.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
        let ours = uris.iter().filter(|uri| parse(uri).is_some());
        ours.cloned().collect()
    });
    accepted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_a_terminal_and_a_view() {
        let table = [
            (
                "termd://terminal/term_abc/screen",
                Some(("term_abc", View::Screen)),
            ),
            (
                "termd://terminal/build/transcript",
                Some(("build", View::Transcript)),
            ),
            ("termd://terminal//screen", None),
            ("termd://terminal/a/b/screen", None),
            ("termd://terminal/a/other", None),
            ("file:///etc/passwd", None),
        ];
        for (uri, want) in table {
            assert_eq!(parse(uri), want, "{uri}");
        }
    }
}
