//! The shortest SGR and OSC 8 from one style to the next.

use termd_proto::hyperlink::may_link;
use termd_proto::screen::{Color, Style, Underline};

use super::put;

/// The style that a terminal draws with.
#[derive(Debug, Default)]
pub struct Pen {
    style: Style,
}

impl Pen {
    /// Writes the change to the style `next`.
    pub fn take(&mut self, next: &Style, out: &mut String) {
        if self.style == *next {
            return;
        }
        let steps = changes(&self.style, next);
        let afresh = changes(&Style::default(), next);
        if !steps.is_empty() {
            if afresh.is_empty() {
                out.push_str("\x1b[m");
            } else if afresh.len() + 2 < steps.len() {
                put(out, format_args!("\x1b[0;{afresh}m"));
            } else {
                put(out, format_args!("\x1b[{steps}m"));
            }
        }
        if self.style.hyperlink != next.hyperlink {
            link(next.hyperlink.as_deref(), out);
        }
        self.style.clone_from(next);
    }

    /// Writes the change to the default style.
    pub fn put_down(&mut self, out: &mut String) {
        self.take(&Style::default(), out);
    }
}

/// OSC 8. A target that misleads or runs something is left out.
fn link(target: Option<&str>, out: &mut String) {
    let target = target.filter(|target| may_link(target)).unwrap_or_default();
    put(out, format_args!("\x1b]8;;{target}\x1b\\"));
}

/// The SGR parameters from one style to another, joined by `;`.
fn changes(from: &Style, to: &Style) -> String {
    let mut params = Params(String::new());
    // 22 ends both bold and faint.
    let lost = (from.bold && !to.bold) || (from.faint && !to.faint);
    if lost {
        params.add("22");
    }
    if to.bold && (lost || !from.bold) {
        params.add("1");
    }
    if to.faint && (lost || !from.faint) {
        params.add("2");
    }
    for (was, is, on, off) in [
        (from.italic, to.italic, "3", "23"),
        (from.blink, to.blink, "5", "25"),
        (from.inverse, to.inverse, "7", "27"),
        (from.invisible, to.invisible, "8", "28"),
        (from.crossed_out, to.crossed_out, "9", "29"),
        (from.overline, to.overline, "53", "55"),
    ] {
        if was != is {
            params.add(if is { on } else { off });
        }
    }
    if from.underline != to.underline {
        params.add(match to.underline {
            Underline::None => "24",
            Underline::Single => "4",
            Underline::Double => "4:2",
            Underline::Curly => "4:3",
            Underline::Dotted => "4:4",
            Underline::Dashed => "4:5",
        });
    }
    if from.foreground != to.foreground {
        params.color(to.foreground, 30);
    }
    if from.background != to.background {
        params.color(to.background, 40);
    }
    if from.underline_color != to.underline_color {
        match to.underline_color {
            Color::Default => params.add("59"),
            Color::Indexed(index) => params.add(&format!("58:5:{index}")),
            Color::Rgb(red, green, blue) => params.add(&format!("58:2::{red}:{green}:{blue}")),
        }
    }
    params.0
}

struct Params(String);

impl Params {
    fn add(&mut self, param: &str) {
        if !self.0.is_empty() {
            self.0.push(';');
        }
        self.0.push_str(param);
    }

    /// `base` is 30 for the foreground and 40 for the background. More terminals read 38;2 than
    /// 38:2.
    fn color(&mut self, color: Color, base: u16) {
        match color {
            Color::Default => self.add(&format!("{}", base + 9)),
            Color::Indexed(index @ 0..=7) => self.add(&format!("{}", base + u16::from(index))),
            Color::Indexed(index @ 8..=15) => {
                self.add(&format!("{}", base + 52 + u16::from(index)));
            }
            Color::Indexed(index) => self.add(&format!("{};5;{index}", base + 8)),
            Color::Rgb(red, green, blue) => {
                self.add(&format!("{};2;{red};{green};{blue}", base + 8));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_sgr_parameters_are_written() {
        let plain = Style::default();
        let bold = Style {
            bold: true,
            ..plain.clone()
        };
        let both = Style {
            faint: true,
            ..bold.clone()
        };
        let red = Style {
            foreground: Color::Indexed(1),
            ..plain.clone()
        };
        let much = Style {
            italic: true,
            inverse: true,
            foreground: Color::Rgb(1, 2, 3),
            background: Color::Indexed(200),
            underline: Underline::Curly,
            underline_color: Color::Rgb(9, 8, 7),
            ..bold.clone()
        };
        let bright = Style {
            foreground: Color::Indexed(9),
            background: Color::Indexed(15),
            ..plain.clone()
        };
        let linked = Style {
            hyperlink: Some("http://a/b".to_owned()),
            ..plain.clone()
        };
        let unsafely_linked = Style {
            hyperlink: Some("http://a/\x1b]\u{9c}b".to_owned()),
            ..plain.clone()
        };
        let table = [
            (&plain, &plain, ""),
            (&plain, &bold, "\x1b[1m"),
            (&bold, &both, "\x1b[2m"),
            (&both, &bold, "\x1b[0;1m"),
            (&bold, &plain, "\x1b[m"),
            (&bold, &red, "\x1b[0;31m"),
            (&plain, &bright, "\x1b[91;107m"),
            (
                &plain,
                &much,
                "\x1b[1;3;7;4:3;38;2;1;2;3;48;5;200;58:2::9:8:7m",
            ),
            (&much, &red, "\x1b[0;31m"),
            (&plain, &linked, "\x1b]8;;http://a/b\x1b\\"),
            (&linked, &unsafely_linked, "\x1b]8;;\x1b\\"),
            (&linked, &plain, "\x1b]8;;\x1b\\"),
        ];
        for (from, to, want) in table {
            let mut pen = Pen {
                style: from.clone(),
            };
            let mut out = String::new();
            pen.take(to, &mut out);
            assert_eq!(
                out.escape_debug().to_string(),
                want.escape_debug().to_string()
            );
        }
    }
}
