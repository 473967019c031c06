//! A replay as one page of HTML: no network, nothing to install, works from disk.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("text.js"),
    include_str!("diff.js"),
    include_str!("waterfall.js"),
    include_str!("details.js"),
    include_str!("filters.js"),
    include_str!("page.js"),
);

/// Makes the page that shows some data.
#[must_use]
pub fn page(data: &Value) -> String {
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">",
        hash(STYLE),
        hash(SCRIPT)
    );
    // Nothing in a payload can end the element that holds it.
    let data = crate::json::to_text(data).replace('<', "\\u003c");
    fill(
        PAGE,
        &[
            ("<!--CSP-->", &policy),
            ("/*STYLE*/", STYLE),
            ("/*DATA*/", &data),
            ("/*SCRIPT*/", SCRIPT),
        ],
    )
}

/// Fills markers from left to right: what one is filled with is not looked at again.
fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = page;
    loop {
        let found = parts
            .iter()
            .filter_map(|(marker, text)| Some((rest.find(marker)?, *marker, *text)))
            .min();
        let Some((at, marker, text)) = found else {
            return out + rest;
        };
        out += &rest[..at];
        out += text;
        rest = &rest[at + marker.len()..];
    }
}

/// Names a script or style that the page itself has; no other one runs.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_cannot_leave_its_element_or_stand_for_a_marker() {
        let page = page(&serde_json::json!({"title": "</script><b>/*SCRIPT*/ <!--CSP-->"}));
        assert!(!page.contains("</script><b>"), "{page}");
        assert!(page.contains("\\u003c/script>\\u003cb>/*SCRIPT*/ \\u003c!--CSP-->"));
        assert_eq!(page.matches(SCRIPT).count(), 1);
    }

    #[test]
    fn the_page_names_no_address() {
        let page = page(&serde_json::json!({}));
        // The name of a drawing's vocabulary, which nobody fetches.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains("http://") && !page.contains("https://"));
        assert!(!STYLE.contains('\r') && !SCRIPT.contains('\r'));
    }
}
