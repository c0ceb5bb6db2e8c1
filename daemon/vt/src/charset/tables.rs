//! The tables of the character sets: where each differs from ASCII.
//!
//! Sources: DEC's VT220, VT330 and VT510 manuals, and ISO 8859-2, -5, -7, -8, -9. Code points are
//! those that xterm shows. An unused code is U+2426. The pieces of DEC technical's big sigma are
//! not in Unicode, and are in its private area from U+EEEE.

use super::Charset;

/// Characters of neighbouring codes.
type Run = (u8, &'static str);

/// The first code of [`SPECIAL_GRAPHICS`].
pub(crate) const SPECIAL_GRAPHICS_FIRST: u8 = 0x5f;

/// DEC special graphics, in a table of its own for speed.
pub(crate) const SPECIAL_GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// The runs of a set that differ from ASCII, each with its first code. Special graphics have their
/// own table.
pub(crate) fn table(set: Charset) -> &'static [Run] {
    match set {
        Charset::Ascii | Charset::British | Charset::DecSpecialGraphics => &[],
        // Its fractions but the first are blank, as Unicode does not have them as one character.
        Charset::Vt52Graphics => &[(0x60, " ▮⅟   °±→…÷↓⎺⎺⎻⎻⎼⎼⎽⎽₀₁₂₃₄₅₆₇₈₉¶")],
        Charset::DecTechnical => &[(
            0x21,
            "⎷┌─⌠⌡│⎡⎣⎤⎦⎧⎩⎫⎭⎨⎬\u{eeee}\u{eeef}\u{eef0}\u{eef1}\u{eef2}\u{eef3}\u{eef4}␦␦␦␦≤≠≥∫∴∝∞÷Δ∇ΦΓ∼≃Θ×Λ⇔⇒≡ΠΨ␦Σ␦␦√ΩΞΥ⊂⊃∩∪∧∨¬αβχδεφγηιθκλ␦ν∂πψρστ␦ƒωξυζ←↑→↓",
        )],
        Charset::DecSupplemental => &[(
            0x21,
            "¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏ␦ÑÒÓÔÕÖŒØÙÚÛÜŸ␦ßàáâãäåæçèéêëìíîï␦ñòóôõöœøùúûüÿ␦",
        )],
        Charset::Dutch => &[(0x23, "£"), (0x40, "¾"), (0x5b, "ĳ½|"), (0x7b, "¨ƒ¼´")],
        Charset::Finnish => &[(0x5b, "ÄÖÅÜ"), (0x60, "é"), (0x7b, "äöåü")],
        Charset::French => &[(0x23, "£"), (0x40, "à"), (0x5b, "°ç§"), (0x7b, "éùè¨")],
        Charset::FrenchCanadian => &[(0x40, "à"), (0x5b, "âçêî"), (0x60, "ô"), (0x7b, "éùèû")],
        Charset::German => &[(0x40, "§"), (0x5b, "ÄÖÜ"), (0x7b, "äöüß")],
        Charset::Italian => &[
            (0x23, "£"),
            (0x40, "§"),
            (0x5b, "°çé"),
            (0x60, "ù"),
            (0x7b, "àòèì"),
        ],
        Charset::NorwegianDanish => &[(0x40, "Ä"), (0x5b, "ÆØÅÜ"), (0x60, "ä"), (0x7b, "æøåü")],
        Charset::Portuguese => &[(0x5b, "ÃÇÕ"), (0x7b, "ãçõ")],
        Charset::Spanish => &[(0x23, "£"), (0x40, "§"), (0x5b, "¡Ñ¿"), (0x7b, "°ñç")],
        Charset::Swedish => &[(0x40, "É"), (0x5b, "ÄÖÅÜ"), (0x60, "é"), (0x7b, "äöåü")],
        Charset::Swiss => &[(0x23, "ù"), (0x40, "à"), (0x5b, "éçêîèô"), (0x7b, "äöüû")],
        Charset::Greek => &[(0x61, "ΑΒΓΔΕΖΗΘΙΚΛΜΝΧΟΠΡΣΤΥΦΞΨΩ␦␦")],
        Charset::Hebrew => &[(0x60, "אבגדהוזחטיךכלםמןנסעףפץצקרשת")],
        Charset::Russian => &[(0x60, "ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧ")],
        Charset::SerboCroatian => &[(0x40, "Ž"), (0x5b, "ŠĐĆČ"), (0x60, "ž"), (0x7b, "šđćč")],
        Charset::Turkish => &[
            (0x26, "ğ"),
            (0x40, "İ"),
            (0x5b, "ŞÖÇÜ"),
            (0x60, "Ğ"),
            (0x7b, "şöçü"),
        ],
        Charset::DecCyrillic => &[(
            0x21,
            "␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧ",
        )],
        Charset::DecGreek => &[(
            0x21,
            "¡¢£␦¥␦§¤©ª«␦␦␦␦°±²³␦µ¶·␦¹º»¼½␦¿ϊΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟ␦ΠΡΣΤΥΦΧΨΩάέήί␦όϋαβγδεζηθικλμνξο␦πρστυφχψωςύώ΄␦",
        )],
        Charset::DecHebrew => &[(
            0x21,
            "¡¢£␦¥␦§¨©×«␦␦␦␦°±²³␦µ¶·␦¹÷»¼½␦¿␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦",
        )],
        Charset::DecTurkish => &[(
            0x21,
            "¡¢£␦¥␦§¨©ª«␦␦İ␦°±²³␦µ¶·␦¹º»¼½ı¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖŒØÙÚÛÜŸŞßàáâãäåæçèéêëìíîïğñòóôõöœøùúûüÿş",
        )],
        Charset::IsoGreek => &[(
            0x20,
            "\u{a0}‘’£␦␦¦§¨©␦«¬\u{ad}␦―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ␦ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ␦",
        )],
        Charset::IsoHebrew => &[(
            0x20,
            "\u{a0}␦¢£¤¥¦§¨©×«¬\u{ad}®¯°±²³´µ¶·¸¹÷»¼½¾␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦␦‗אבגדהוזחטיךכלםמןנסעףפץצקרשת␦␦␦␦␦",
        )],
        Charset::IsoLatin2 => &[(
            0x20,
            "\u{a0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{ad}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙",
        )],
        Charset::IsoLatin5 => &[(
            0x20,
            "\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ",
        )],
        Charset::IsoCyrillic => &[(
            0x20,
            "\u{a0}ЁЂЃЄЅІЇЈЉЊЋЌ\u{ad}ЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ",
        )],
    }
}
