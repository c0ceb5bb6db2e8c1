//! Device-independent colours as `XParseColor` takes them: `CIEXYZ:`, `CIExyY:`, `CIEuvY:`,
//! `CIELab:`, `CIELuv:`, `TekHVC:` and `rgbi:`, each with three numbers.
//!
//! Their red, green and blue depend on a display. X describes a 19-inch Tektronix CRT for servers
//! that do not describe their own, and this is what xterm reports. A colour that it cannot show
//! keeps its lightness and hue, and loses chroma.

use super::Rgb;

/// X, Y, Z (CIE 1931), where Y is 1 for white.
type Xyz = [f64; 3];

/// A gun of that display: the intensity of each level.
struct Gun {
    /// The first level that shines.
    first: u8,
    /// Millionths of the full intensity, for the first level and for each [`STEP`] levels more.
    intensities: &'static [u32],
}

/// Levels from one measured intensity to the next.
const STEP: f64 = 5.0;

const RED: Gun = Gun {
    first: 10,
    intensities: &[
        936, 1_481, 2_329, 3_529, 5_127, 7_169, 9_699, 12_759, 16_392, 20_637, 25_533, 31_119,
        37_431, 44_504, 52_373, 61_069, 70_624, 81_070, 92_433, 104_744, 118_026, 132_307, 147_610,
        163_958, 181_371, 199_871, 219_475, 240_202, 262_069, 285_089, 309_278, 334_647, 361_208,
        388_971, 417_945, 448_138, 479_555, 512_202, 546_082, 581_199, 617_552, 655_144, 693_971,
        734_031, 775_322, 817_837, 861_571, 906_515, 952_662, 1_000_000,
    ],
};

const GREEN: Gun = Gun {
    first: 20,
    intensities: &[
        832, 1_998, 3_612, 5_736, 8_428, 11_745, 15_740, 20_463, 25_960, 32_275, 39_449, 47_519,
        56_520, 66_484, 77_439, 89_409, 102_418, 116_485, 131_625, 147_853, 165_176, 183_604,
        203_140, 223_783, 245_533, 268_384, 292_327, 317_351, 343_441, 370_580, 398_747, 427_919,
        458_068, 489_165, 521_176, 554_067, 587_797, 622_324, 657_604, 693_588, 730_225, 767_459,
        805_235, 843_491, 882_164, 921_187, 960_490, 1_000_000,
    ],
};

const BLUE: Gun = Gun {
    first: 15,
    intensities: &[
        1_341, 2_080, 3_188, 4_729, 6_766, 9_357, 12_559, 16_424, 21_004, 26_344, 32_489, 39_481,
        47_357, 56_154, 65_903, 76_634, 88_373, 101_145, 114_968, 129_862, 145_841, 162_915,
        181_095, 200_386, 220_791, 242_309, 264_937, 288_670, 313_499, 339_410, 366_390, 394_421,
        423_481, 453_547, 484_592, 516_587, 549_498, 583_291, 617_925, 653_361, 689_553, 726_454,
        764_013, 802_178, 840_891, 880_093, 919_723, 959_715, 1_000_000,
    ],
};

/// From X, Y, Z to the guns' intensities.
const GUNS: [[f64; 3]; 3] = [
    [3.483_405, -1.521_764, -0.559_231],
    [-1.071_528, 1.965_938, 0.036_737],
    [0.063_512, -0.200_205, 0.810_709],
];
/// All guns at full intensity.
const WHITE: Xyz = [0.949_664, 1.0, 1.406_040];
/// Where `TekHVC:` measures hue from: u' and v' of its best red.
const BEST_RED: (f64, f64) = (0.7127, 0.4931);
/// How `TekHVC:` scales chroma.
const CHROMA_SCALE: f64 = 7.507_25;
/// How far an intensity may be out of range.
const TOLERANCE: f64 = 0.001;
/// How often a chroma is halved: it is then exact to far less than a level.
const HALVINGS: usize = 32;

/// Parses a colour in lower case; `None` where it is malformed or a number is out of range.
pub(crate) fn parse(text: &str) -> Option<Rgb> {
    let (space, numbers) = text.split_once(':')?;
    let mut numbers = numbers
        .split('/')
        .map(|number| number.parse().ok().filter(|value: &f64| value.is_finite()));
    let mut next = || numbers.next().flatten();
    let (a, b, c) = (next()?, next()?, next()?);
    if numbers.next().is_some() {
        return None;
    }
    let unit = 0.0..=1.0;
    let percent = 0.0..=100.0;
    let xyz = match space {
        "rgbi" if [a, b, c].iter().all(|part| unit.contains(part)) => {
            return Some(levels([a, b, c]));
        }
        "ciexyz" if unit.contains(&b) => [a, b, c],
        "ciexyy" if unit.contains(&c) => from_shares(a, b, c),
        "cieuvy" if unit.contains(&c) => from_chroma(a, b, c),
        "cielab" if percent.contains(&a) => from_lab(a, b, c),
        "cieluv" if percent.contains(&a) => from_luv(a, b, c),
        "tekhvc" if percent.contains(&b) && c >= 0.0 => from_hvc(a, b, c),
        _ => return None,
    };
    Some(levels(shown(xyz)))
}

/// From x, y and Y.
fn from_shares(x: f64, y: f64, lightness: f64) -> Xyz {
    if y == 0.0 {
        return [x, lightness, 1.0 - x];
    }
    let scale = lightness / y;
    [x * scale, lightness, (1.0 - x - y) * scale]
}

/// From u', v' and Y (CIE 1976).
fn from_chroma(u: f64, v: f64, lightness: f64) -> Xyz {
    let share = |u: f64, v: f64| 6.0 * u - 16.0 * v + 12.0;
    let (u, v) = if share(u, v) == 0.0 {
        chroma(WHITE)
    } else {
        (u, v)
    };
    let divisor = share(u, v);
    from_shares(9.0 * u / divisor, 4.0 * v / divisor, lightness)
}

/// u' and v'. A colour without them has those of white.
fn chroma([x, y, z]: Xyz) -> (f64, f64) {
    let divisor = x + 15.0 * y + 3.0 * z;
    if divisor == 0.0 {
        return chroma(WHITE);
    }
    (4.0 * x / divisor, 9.0 * y / divisor)
}

/// Y from CIE 1976's L*, which is also the value of `TekHVC:`.
fn lightness(value: f64) -> f64 {
    // Below this the cube is replaced by a straight line.
    if value < 7.999_536 {
        value / 903.29
    } else {
        ((value + 16.0) / 116.0).powi(3)
    }
}

/// From L*, a*, b*, as X scales them.
fn from_lab(value: f64, a: f64, b: f64) -> Xyz {
    let [white_x, _, white_z] = WHITE;
    let root = (value + 16.0) / 116.0;
    if root.powi(3) < 0.008_856 {
        // A hundred times brighter than CIE's; X does the same.
        let linear = value / 9.032_92;
        return [
            white_x * (a / 3893.5 + linear),
            linear,
            white_z * (linear - b / 1557.4),
        ];
    }
    [
        white_x * (root + a / 5.0).powi(3),
        root.powi(3),
        white_z * (root - b / 2.0).powi(3),
    ]
}

/// From L*, u*, v*.
fn from_luv(value: f64, u: f64, v: f64) -> Xyz {
    let (white_u, white_v) = chroma(WHITE);
    if value == 0.0 {
        return [0.0; 3];
    }
    let scale = 13.0 * value / 100.0;
    from_chroma(white_u + u / scale, white_v + v / scale, lightness(value))
}

/// From hue in degrees, value and chroma (Tektronix).
fn from_hvc(hue: f64, value: f64, saturation: f64) -> Xyz {
    let (white_u, white_v) = chroma(WHITE);
    if value == 0.0 {
        return [0.0; 3];
    }
    let red = (BEST_RED.1 - white_v).atan2(BEST_RED.0 - white_u);
    let (sine, cosine) = (hue.to_radians() + red).sin_cos();
    let radius = saturation / (value * CHROMA_SCALE);
    from_chroma(
        white_u + cosine * radius,
        white_v + sine * radius,
        lightness(value),
    )
}

/// The guns' intensities for a colour, or for the nearest colour of its hue that can be shown.
fn shown(xyz: Xyz) -> [f64; 3] {
    let guns = intensities(xyz);
    if are_within(guns, TOLERANCE) {
        return guns;
    }
    let [_, bright, _] = xyz;
    if bright >= 1.0 {
        return [1.0; 3];
    }
    let ((white_u, white_v), (u, v)) = (chroma(WHITE), chroma(xyz));
    let with = |share: f64| {
        intensities(from_chroma(
            white_u + (u - white_u) * share,
            white_v + (v - white_v) * share,
            bright,
        ))
    };
    let (mut least, mut most) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(least, most);
        if are_within(with(middle), 0.0) {
            least = middle;
        } else {
            most = middle;
        }
    }
    with(least)
}

fn intensities([x, y, z]: Xyz) -> [f64; 3] {
    GUNS.map(|[by_x, by_y, by_z]| by_x * x + by_y * y + by_z * z)
}

fn are_within(guns: [f64; 3], tolerance: f64) -> bool {
    let shown = -tolerance..=1.0 + tolerance;
    guns.iter().all(|gun| shown.contains(gun))
}

fn levels([red, green, blue]: [f64; 3]) -> Rgb {
    Rgb(RED.level(red), GREEN.level(green), BLUE.level(blue))
}

impl Gun {
    /// The level for an intensity of 0 to 1.
    fn level(&self, intensity: f64) -> u8 {
        let wanted = intensity.clamp(0.0, 1.0) * 1e6;
        let (mut level, mut step, mut below) = (f64::from(self.first) - 1.0, 1.0, 0.0);
        for above in self.intensities.iter().copied().map(f64::from) {
            if wanted <= above {
                level += step * (wanted - below) / (above - below);
                break;
            }
            level += step;
            (step, below) = (STEP, above);
        }
        // Within 0 to 255, as the intensity is clamped.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        {
            level.round() as u8
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_display_that_x_describes() {
        for (text, want) in [
            ("rgbi:1/1/1", Some(Rgb(0xff, 0xff, 0xff))),
            ("rgbi:0.5/0.5/0.5", Some(Rgb(0xc1, 0xbb, 0xbb))),
            ("ciexyz:1/1/1", Some(Rgb(0xff, 0xff, 0xff))),
            ("ciexyz:0.5/0.5/0.5", Some(Rgb(0xdd, 0xb5, 0xa0))),
            ("cieuvy:0.5/0.5/0.5", Some(Rgb(0xff, 0xa3, 0xae))),
            ("ciexyy:0.5/0.5/0.5", Some(Rgb(0xf7, 0xb3, 0x0e))),
            ("cielab:1/1/1", Some(Rgb(0x6c, 0x67, 0x67))),
            ("cielab:0.5/0.5/0.5", Some(Rgb(0x52, 0x4f, 0x4f))),
            ("cieluv:1/1/1", Some(Rgb(0x16, 0x14, 0x0e))),
            ("cieluv:0.5/0.5/0.5", Some(Rgb(0x0e, 0x13, 0x0e))),
            ("tekhvc:1/1/1", Some(Rgb(0x1a, 0x13, 0x0f))),
            ("tekhvc:0.5/0.5/0.5", Some(Rgb(0x11, 0x13, 0x0e))),
            ("tekhvc:0/100/0", Some(Rgb(0xff, 0xff, 0xff))),
            ("rgbi:1.1/0/0", None),
            ("rgbi:nan/0/0", None),
            ("ciexyz:1/inf/1", None),
            ("ciexyz:1/1", None),
            ("ciexyz:1/1/1/1", None),
            ("ciexyz:1/x/1", None),
            ("nosuch:1/1/1", None),
        ] {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn any_numbers_are_a_colour_or_none() {
        let numbers = ["0", "1", "-1", "0.3", "50", "1e300", "-1e300", "1e-300"];
        for space in ["ciexyz", "ciexyy", "cieuvy", "cielab", "cieluv", "tekhvc"] {
            let mut colours = 0;
            for a in numbers {
                for b in numbers {
                    for c in numbers {
                        colours += usize::from(parse(&format!("{space}:{a}/{b}/{c}")).is_some());
                    }
                }
            }
            assert!(colours > 100, "{space}: {colours}");
        }
    }
}
