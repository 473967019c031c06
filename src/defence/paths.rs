//! Spellings of paths, and what they come to.

use std::path::{Path, PathBuf};

/// Paths longer than this do not exist on any disk.
const LONGEST: usize = 4096;

/// Returns a text as a file system that folds case, width and invisible characters reads it.
pub(super) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else if let Some(c) = look_alike(c) {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// Maps a character to the one it may be taken for, and invisible ones to nothing.
fn look_alike(c: char) -> Option<char> {
    match c {
        // HFS+ leaves these out when it compares names.
        '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{00ad}' => None,
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0),
        '\u{2024}' | '\u{fe52}' | '\u{3002}' | '\u{ff61}' => Some('.'),
        '\u{2044}' | '\u{2215}' | '\u{29f8}' => Some('/'),
        '\u{2216}' | '\u{fe68}' => Some('/'),
        '\u{2010}'..='\u{2015}' => Some('-'),
        '\u{017f}' => Some('s'),
        '\u{00a0}' => Some(' '),
        c => Some(c),
    }
}

/// Where a spelling is read: the folders that it may start from.
#[derive(Clone, Copy)]
pub(super) struct Base<'a> {
    pub cwd: &'a str,
    pub home: Option<&'a str>,
}

/// Returns a path that starts at the root, with slashes, but with its `..` still in it.
pub(super) fn absolute(spelled: &str, base: Base) -> String {
    let text = spelled.trim().replace('\\', "/");
    let text = without_scheme(&text);
    let text = text
        .strip_prefix("//?/")
        .or_else(|| text.strip_prefix("//./"))
        .unwrap_or(text);
    // No variable starts with a slash.
    if text.starts_with('/') {
        return text.to_owned();
    }
    if let Some(rest) = below_variable(text, &["$PWD", "${PWD}", "%CD%", "~+", "$env:PWD"]) {
        return format!("{}/{rest}", base.cwd);
    }
    if let (Some(home), Some(rest)) = (base.home, below_home(text, base.home)) {
        return format!("{home}/{rest}");
    }
    if is_drive(text) {
        return text.to_owned();
    }
    format!("{}/{text}", base.cwd)
}

fn without_scheme(text: &str) -> &str {
    let Some(rest) = strip_prefix_folded(text, "file:") else {
        return text;
    };
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    strip_prefix_folded(rest, "localhost").unwrap_or(rest)
}

fn strip_prefix_folded<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..))?
}

fn below_home<'a>(text: &'a str, home: Option<&str>) -> Option<&'a str> {
    let names = [
        "~",
        "$HOME",
        "${HOME}",
        "%USERPROFILE%",
        "%HOMEPATH%",
        "$env:USERPROFILE",
        "$env:HOME",
        "${env:HOME}",
        "${env:USERPROFILE}",
    ];
    below_variable(text, &names).or_else(|| {
        let user = home?.rsplit('/').next()?;
        below_variable(text, &[&format!("~{user}")])
    })
}

fn below_variable<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let rest = strip_prefix_folded(text, name)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
    })
}

fn is_drive(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('/'))
}

/// Returns the names along a folded absolute path, with `.` and `..` worked out.
pub(super) fn parts(path: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            part => out.push(plain_name(part, index).to_owned()),
        }
    }
    out
}

/// Leaves out what Windows leaves out of a name: trailing dots and blanks, and streams.
fn plain_name(part: &str, index: usize) -> &str {
    // A colon in a class of a wildcard is none of a stream.
    let stream = part.find(':').filter(|at| *at > 1 || index > 1);
    let stream = stream.filter(|_| !super::glob::is_pattern(part));
    let name = stream.and_then(|at| part.get(..at)).unwrap_or(part);
    let name = name.trim_end_matches(['.', ' ', '\t']);
    if name.is_empty() { part } else { name }
}

/// Returns the folded names along a spelled path.
pub(super) fn folded_parts(spelled: &str, base: Base) -> Vec<String> {
    let home = base.home.map(fold);
    let base = Base {
        cwd: &fold(base.cwd),
        home: home.as_deref(),
    };
    through_proc(parts(&absolute(&fold(spelled), base)), base.cwd)
}

/// Reads `/proc/self/cwd` and `/proc/self/root` as the process that is started will.
fn through_proc(path: Vec<String>, cwd: &str) -> Vec<String> {
    let [proc, _, link, rest @ ..] = path.as_slice() else {
        return path;
    };
    let start = match (proc.as_str(), link.as_str()) {
        ("proc", "cwd") => parts(cwd),
        ("proc", "root") => Vec::new(),
        _ => return path,
    };
    start.into_iter().chain(rest.iter().cloned()).collect()
}

/// Follows the links of the longest part of a path that exists.
pub(super) fn physical(path: &str) -> Option<PathBuf> {
    if path.len() > LONGEST || path.contains('\0') {
        return None;
    }
    let path = Path::new(path);
    for (missing, there) in path.ancestors().enumerate() {
        if there.as_os_str().is_empty() {
            break;
        }
        let Ok(mut real) = there.canonicalize() else {
            // A link to nowhere: what is written through it appears at its target.
            if let Some(target) = dangling(there) {
                return Some(real_rest(path, missing, target));
            }
            continue;
        };
        if missing > 0 {
            real = real_rest(path, missing, real);
        }
        return Some(real);
    }
    None
}

fn dangling(link: &Path) -> Option<PathBuf> {
    let target = std::fs::read_link(link).ok()?;
    let folder = link.parent()?;
    let folder = folder.canonicalize().unwrap_or(folder.to_owned());
    Some(folder.join(target))
}

fn real_rest(path: &Path, missing: usize, mut real: PathBuf) -> PathBuf {
    let all: Vec<_> = path.components().collect();
    let rest = all.len().saturating_sub(missing);
    for part in all.iter().skip(rest) {
        real.push(part);
    }
    real
}

/// Returns a text with its percent escapes read.
pub(super) fn unpercent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = text
            .get(at + 1..at + 3)
            .filter(|_| *byte == b'%')
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}
