//! The files that a patch names.

/// Returns every path in the headers of a patch, in any of the usual formats.
pub(super) fn files(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']).trim_end();
        if let Some(rest) = header(line) {
            out.push(rest.to_owned());
        } else if let Some(rest) = line.strip_prefix("diff --git ") {
            out.extend(rest.split(' ').map(side));
        } else if let Some(rest) = unified(line) {
            out.push(side(rest));
        }
    }
    out
}

/// Says whether a text is a patch.
pub(super) fn is_patch(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with("*** Begin Patch")
        || start.starts_with("diff --git ")
        || start.starts_with("--- ")
        || text.contains("\n*** Begin Patch")
        || text.contains("\n--- ") && text.contains("\n+++ ")
}

fn header(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("***") {
        let (kind, path) = rest.split_once(':')?;
        let kind = kind.trim().to_ascii_lowercase();
        let names = kind.ends_with("file") || kind.ends_with("to") || kind.ends_with("from");
        return names.then(|| path.trim());
    }
    let marks = [
        "rename to ",
        "rename from ",
        "copy to ",
        "copy from ",
        "Index: ",
    ];
    marks
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .map(str::trim)
}

fn unified(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("+++ ")
        .or_else(|| line.strip_prefix("--- "))?;
    Some(rest.split('\t').next().unwrap_or(rest))
}

/// Leaves out the quotes and the `a/` or `b/` that git puts in front.
fn side(path: &str) -> String {
    let path = path.trim();
    let path = match path
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(quoted) => super::shell::escapes::ansi(quoted),
        None => path.to_owned(),
    };
    let bare = ["a/", "b/", "i/", "w/", "c/", "o/"]
        .iter()
        .find_map(|side| path.strip_prefix(side));
    bare.map(str::to_owned).unwrap_or(path)
}
