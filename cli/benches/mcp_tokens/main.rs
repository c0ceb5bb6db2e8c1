//! What a model pays for `termctl mcp`: the tokens (o200k) of the lists of tools and of the answers to
//! the same work, beside terminal-mcp and smart-terminal-mcp, in one run.
//!
//! `cargo build --release && cargo bench -p termctl --bench mcp_tokens`. Of a list the name, the
//! description and the input schema count, since clients give models no more; of an answer its text.
//! Starting a session that the work needs does not count. Words behind `--` select works. Ends with 1
//! if a figure of ours is beyond its limit.

mod agent;
#[path = "../mcp/launch.rs"]
mod launch;
#[path = "../mcp/peer.rs"]
mod peer;
// What only the bench `mcp` needs of these.
#[allow(dead_code)]
#[path = "../mcp/place.rs"]
mod place;
#[allow(dead_code)]
#[path = "../mcp/server.rs"]
mod server;
mod smart_terminal_mcp;
mod works;

use std::process::ExitCode;

use agent::{Agent, Paid, Tools};
use launch::Launch;
use place::Place;
use tempfile::TempDir;
use termd_test_support::figures::{Limit, Report};
use tiktoken_rs::CoreBPE;
use works::{WORKS, Work};

/// Ours, and the most tokens of its list.
const OURS: [(Tools, f64); 3] = [
    (Tools::Session, 1_900.0),
    (Tools::Terminal, 1_200.0),
    (Tools::Lean, 700.0),
];

fn main() -> anyhow::Result<ExitCode> {
    let mut report = Report::new();
    let tokenizer = tiktoken_rs::o200k_base()?;
    let fixtures = works::fixtures()?;
    let place = Place::new()?;
    let peers = [
        (Tools::TerminalMcp, peer::terminal_mcp()),
        (Tools::SmartTerminalMcp, smart_terminal_mcp::launch()),
    ];
    for (tools, launch) in &peers {
        if launch.is_none() {
            report.skipped(tools.name(), "it could not be installed");
        }
    }
    let mut measured = Measured {
        report: &mut report,
        tokenizer: &tokenizer,
        fixtures: &fixtures,
    };
    for (tools, limit) in OURS {
        measured.list(&place.ours(tools.name()), tools, Some(limit))?;
    }
    for (tools, launch) in &peers {
        if let Some(launch) = launch {
            measured.list(launch, *tools, None)?;
        }
    }
    // cargo adds `--bench`.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let is_wanted =
        |work: &Work| wanted.is_empty() || wanted.iter().any(|word| work.what.contains(word));
    for work in WORKS.into_iter().filter(is_wanted) {
        for (tools, _) in OURS {
            measured.work(&place.ours(tools.name()), tools, &work)?;
        }
        for (tools, launch) in &peers {
            let Some(launch) = launch else { continue };
            // Of another server a call without an answer ends the work, and not the bench.
            if let Err(error) = measured.work(launch, *tools, &work) {
                let what = format!("{}: {}", work.what, tools.name());
                measured.report.skipped(&what, &error.to_string());
            }
        }
    }
    Ok(report.exit_code())
}

struct Measured<'a> {
    report: &'a mut Report,
    tokenizer: &'a CoreBPE,
    fixtures: &'a TempDir,
}

impl Measured<'_> {
    /// The list of a server's tools. `limit`: it is ours.
    fn list(&mut self, launch: &Launch, tools: Tools, limit: Option<f64>) -> anyhow::Result<()> {
        let agent = Agent::start(launch, tools, self.tokenizer)?;
        let tokens = agent.list()?;
        self.print(&format!("tools/list: {}", tools.name()), tokens, limit);
        Ok(())
    }

    /// The answers to one work.
    fn work(&mut self, launch: &Launch, tools: Tools, work: &Work) -> anyhow::Result<()> {
        let mut agent = Agent::start(launch, tools, self.tokenizer)?;
        agent.enter(self.fixtures.path())?;
        let is_done = (work.run)(&mut agent)?;
        let Paid { tokens, calls } = agent.end()?;
        let calls = if calls == 1 {
            "1 call".to_owned()
        } else {
            format!("{calls} calls")
        };
        let outcome = if is_done { "" } else { ", NOT DONE" };
        let what = format!("{}: {} ({calls}{outcome})", work.what, tools.name());
        self.print(&what, tokens, tools.is_ours().then_some(work.limit));
        Ok(())
    }

    fn print(&mut self, what: &str, tokens: usize, limit: Option<f64>) {
        let tokens = f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
        match limit {
            Some(most) => self
                .report
                .figure(what, "tokens", tokens, Limit::AtMost(most)),
            None => self.report.beside(what, "tokens", tokens),
        }
    }
}
