//! Makes text safe to print on a terminal. Text from certificates, proxies, URLs and file names may contain control characters, which a
//! terminal would interpret.

use std::fmt::Write;

/// Escapes characters that can change how the surrounding text is displayed: control characters other than line feeds and tabs, and
/// characters such as bidirectional overrides. The escapes are those of JSON, so the meaning of a JSON document doesn't change.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_shown(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(shown, "\\u{unit:04x}").expect("writing to a string cannot fail");
        }
    }
    shown
}

fn is_shown(character: char) -> bool {
    matches!(character, '\n' | '\t' | '"' | '\'' | '\\') || character.escape_debug().len() == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_characters_that_terminals_interpret() {
        for (text, shown) in [
            ("größer, 日本 🚀\t\"it's\" \\ here\n", "größer, 日本 🚀\t\"it's\" \\ here\n"),
            ("\x1b[2J\x07\r\0", "\\u001b[2J\\u0007\\u000d\\u0000"),
            ("\u{7f}\u{9b}31m", "\\u007f\\u009b31m"),
            ("\u{202e}\u{2066}\u{2028}\u{feff}", "\\u202e\\u2066\\u2028\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    proptest! {
        #[test]
        fn json_documents_keep_their_meaning(text in any::<String>()) {
            let document = printable(&serde_json::to_string(&text).expect("a string can be serialized"));
            prop_assert!(!document.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<String>(&document).expect("the document is valid JSON"), text);
        }
    }
}
