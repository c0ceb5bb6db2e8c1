//! What colours look like where no person has chosen: the themes of HTML and of pictures.
//!
//! Pure. Indices 16 to 255 are xterm's in every theme; the first 16 and the defaults are the
//! theme's own.

use crate::screen::{Color, Style};

/// Red, green, blue, 0 to 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

/// A viewer's colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// The default foreground.
    pub foreground: Rgb,
    /// The default background.
    pub background: Rgb,
    /// Colours 0 to 15: ANSI and bright.
    pub ansi: [Rgb; 16],
}

/// Which of the default colours is the background (DECSCNM).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Video {
    /// The theme's.
    Normal,
    /// The theme's foreground.
    Reverse,
}

impl Video {
    /// As the mode says.
    pub fn of_mode(reverse_video: bool) -> Self {
        if reverse_video {
            Self::Reverse
        } else {
            Self::Normal
        }
    }
}

/// The colours a cell is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Paint {
    /// Of the character.
    pub ink: Rgb,
    /// Behind it.
    pub paper: Rgb,
    /// Of its underline.
    pub underline: Rgb,
}

impl Theme {
    /// xterm's 16 colours on black.
    pub const DARK: Self = Self {
        foreground: Rgb(0xe5, 0xe5, 0xe5),
        background: Rgb(0x00, 0x00, 0x00),
        ansi: XTERM_16,
    };

    /// Black on white, with the colours that xterm makes too pale for white darkened.
    pub const LIGHT: Self = Self {
        foreground: Rgb(0x1a, 0x1a, 0x1a),
        background: Rgb(0xff, 0xff, 0xff),
        ansi: [
            Rgb(0x00, 0x00, 0x00),
            Rgb(0xcd, 0x00, 0x00),
            Rgb(0x00, 0x80, 0x00),
            Rgb(0x96, 0x6a, 0x00),
            Rgb(0x00, 0x00, 0xee),
            Rgb(0xa8, 0x00, 0xa8),
            Rgb(0x00, 0x80, 0x8a),
            Rgb(0xd0, 0xd0, 0xd0),
            Rgb(0x7f, 0x7f, 0x7f),
            Rgb(0xff, 0x20, 0x20),
            Rgb(0x00, 0xa0, 0x00),
            Rgb(0xb8, 0x86, 0x00),
            Rgb(0x5c, 0x5c, 0xff),
            Rgb(0xd8, 0x00, 0xd8),
            Rgb(0x00, 0xa0, 0xb0),
            Rgb(0xff, 0xff, 0xff),
        ],
    };

    /// Default foreground and background.
    pub fn defaults(&self, video: Video) -> (Rgb, Rgb) {
        match video {
            Video::Normal => (self.foreground, self.background),
            Video::Reverse => (self.background, self.foreground),
        }
    }

    /// What a style looks like: inverse swaps, faint goes half the way to the background.
    /// Invisible is the renderer's business: what is not drawn has no colour.
    pub fn paint(&self, style: &Style, video: Video) -> Paint {
        let (foreground, background) = self.defaults(video);
        let mut ink = self.rgb(style.foreground, foreground);
        let mut paper = self.rgb(style.background, background);
        if style.inverse {
            std::mem::swap(&mut ink, &mut paper);
        }
        if style.faint {
            ink = ink.mixed(paper);
        }
        Paint {
            ink,
            paper,
            underline: self.rgb(style.underline_color, ink),
        }
    }

    fn rgb(&self, color: Color, default: Rgb) -> Rgb {
        match color {
            Color::Default => default,
            Color::Rgb(red, green, blue) => Rgb(red, green, blue),
            Color::Indexed(index) => self
                .ansi
                .get(usize::from(index))
                .copied()
                .unwrap_or_else(|| xterm_256(index)),
        }
    }
}

impl Rgb {
    /// Half of each.
    #[must_use]
    pub fn mixed(self, other: Self) -> Self {
        Self(
            self.0.midpoint(other.0),
            self.1.midpoint(other.1),
            self.2.midpoint(other.2),
        )
    }

    /// As CSS has it: `#rrggbb`.
    pub fn css(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// xterm's 256 colours before a program changes them: 16 of `XTerm-col.ad`, then as
/// `256colres.pl` makes them a cube of 216 and 24 greys.
pub fn xterm_256(index: u8) -> Rgb {
    if let Some(ansi) = XTERM_16.get(usize::from(index)) {
        return *ansi;
    }
    if let Some(grey) = index.checked_sub(232) {
        let level = 8 + grey * 10;
        return Rgb(level, level, level);
    }
    let level = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    let cube = index.saturating_sub(16);
    Rgb(level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

/// xterm's `XTerm-col.ad`.
const XTERM_16: [Rgb; 16] = [
    Rgb(0x00, 0x00, 0x00),
    Rgb(0xcd, 0x00, 0x00),
    Rgb(0x00, 0xcd, 0x00),
    Rgb(0xcd, 0xcd, 0x00),
    Rgb(0x00, 0x00, 0xee),
    Rgb(0xcd, 0x00, 0xcd),
    Rgb(0x00, 0xcd, 0xcd),
    Rgb(0xe5, 0xe5, 0xe5),
    Rgb(0x7f, 0x7f, 0x7f),
    Rgb(0xff, 0x00, 0x00),
    Rgb(0x00, 0xff, 0x00),
    Rgb(0xff, 0xff, 0x00),
    Rgb(0x5c, 0x5c, 0xff),
    Rgb(0xff, 0x00, 0xff),
    Rgb(0x00, 0xff, 0xff),
    Rgb(0xff, 0xff, 0xff),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xterms_256() {
        let table = [
            (1, Rgb(0xcd, 0, 0)),
            (16, Rgb(0, 0, 0)),
            (21, Rgb(0, 0, 255)),
            (67, Rgb(95, 135, 175)),
            (231, Rgb(255, 255, 255)),
            (232, Rgb(8, 8, 8)),
            (255, Rgb(238, 238, 238)),
        ];
        for (index, want) in table {
            assert_eq!(xterm_256(index), want, "{index}");
        }
    }

    #[test]
    fn a_style_is_painted() {
        let theme = Theme::DARK;
        let red = Rgb(0xcd, 0, 0);
        let style = |inverse, faint| Style {
            foreground: Color::Indexed(1),
            inverse,
            faint,
            ..Style::default()
        };
        let got = |style: &Style, video| {
            let paint = theme.paint(style, video);
            (paint.ink, paint.paper)
        };
        assert_eq!(
            got(&style(false, false), Video::Normal),
            (red, theme.background)
        );
        assert_eq!(
            got(&style(true, false), Video::Normal),
            (theme.background, red)
        );
        // DECSCNM swaps the defaults, and no colour that a program chose.
        assert_eq!(
            got(&style(false, false), Video::Reverse),
            (red, theme.foreground)
        );
        assert_eq!(got(&style(false, true), Video::Normal).0, Rgb(0x66, 0, 0));
    }
}
