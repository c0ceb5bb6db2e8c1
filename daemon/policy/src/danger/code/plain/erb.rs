//! Templates of Ruby: <https://docs.ruby-lang.org/en/master/ERB.html>.

use super::ruby;

/// The code of a template in the one spelling.
pub(super) fn plain(template: &str) -> Option<String> {
    ruby::RUBY.plain(&code(template))
}

/// The code of a template: what stands in `<% … %>` and `<%= … %>`, and lines that begin with `%`.
pub(crate) fn code(template: &str) -> String {
    let tags = template.split("<%").skip(1);
    let tags = tags.filter(|tag| !tag.starts_with(['%', '#']));
    let tags = tags.map(|tag| tag.split("%>").next().unwrap_or(tag));
    let tags = tags.map(|tag| tag.trim_start_matches(['=', '-']).trim_end_matches('-'));
    let lines = template.lines().filter_map(|line| line.strip_prefix('%'));
    let lines = lines.filter(|line| !line.starts_with(['%', '>']));
    tags.chain(lines).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn the_code_of_a_template_stands_in_tags_and_in_lines_with_a_sign() {
        let cases = [
            ("a <%= x -%> b <% y %>", " x \n y "),
            ("% z\n%% text\na", " z"),
            ("<%# comment %><%% text %>", ""),
        ];
        for (template, found) in cases {
            assert_eq!(code(template), found, "{template}");
        }
    }
}
