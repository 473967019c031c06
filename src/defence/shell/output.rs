//! What commands write, where that follows from their words.

use super::marks::{self, UNKNOWN};
use super::readers::short;
use super::{Data, Place, Shell, escapes};

/// How long a text may become, in bytes.
const LARGEST: usize = 1 << 22;

impl Shell<'_> {
    /// Returns what a command writes that only reads.
    pub(in crate::defence) fn output(&mut self, name: &str, args: &[String], stdin: Data) -> Data {
        // What picks some of a list makes another list, and what orders it does not.
        let whole = matches!(name, "cat" | "sort" | "uniq" | "tac");
        if whole && matches!(stdin, Data::Tree(_)) {
            return stdin;
        }
        if args.iter().any(|arg| super::super::glob::is_pattern(arg)) {
            return self.derived(args, &stdin);
        }
        let decodes = short(args, 'd') || short(args, 'D') || args.iter().any(|a| a == "--decode");
        let input = || match &stdin {
            Data::Known(text) => Some(text.clone()),
            _ => None,
        };
        let made = match name {
            "echo" | "write-output" => Some(echo(args)),
            "printf" => Some(printf(args)),
            "pwd" => self.state.cwds.first().cloned(),
            "which" | "type" | "realpath" | "readlink" => args.last().cloned(),
            "basename" => args
                .first()
                .and_then(|a| a.rsplit('/').next())
                .map(str::to_owned),
            "dirname" => args
                .first()
                .map(|arg| arg.rsplit_once('/').map_or(".", |(up, _)| up).to_owned()),
            "pgrep" | "pidof" if args.iter().any(|arg| arg.contains("hookbox")) => {
                return Data::Tainted("what hookbox trusts".to_owned());
            }
            "cat" | "head" | "tail" | "base64" | "rev" | "tr" | "sed" | "tac" | "grep" | "sort" => {
                let text = self.contents(args).or_else(input);
                if name == "sed" && text.as_ref().is_some_and(|text| grows(args, text)) {
                    return Data::Tainted("a protected path".to_owned());
                }
                text.and_then(|text| filter(name, args, &text, decodes))
            }
            _ => None,
        };
        match made {
            Some(text) if text.contains(UNKNOWN) && text.chars().count() == 1 => Data::Unknown,
            Some(text) if !text.contains(marks::TAINTED) => Data::Known(text),
            _ => self.derived(args, &stdin),
        }
    }

    /// Returns what the command has written itself into a file that it names.
    fn contents(&self, args: &[String]) -> Option<String> {
        args.iter().find_map(|arg| {
            let known = self.state.files.get(&self.absolute(arg))?;
            match known {
                Data::Known(text) => Some(text.clone()),
                _ => None,
            }
        })
    }

    /// Says what a tool such as `xxd -r` makes of its input.
    pub(in crate::defence) fn decoded(
        &self,
        name: &str,
        args: &[String],
        stdin: &Data,
    ) -> Option<Data> {
        let Data::Known(text) = stdin else {
            return None;
        };
        let bytes = match name {
            "xxd" if short(args, 'r') => escapes::hex(text),
            "openssl" if short(args, 'd') => escapes::base64(text),
            _ => return None,
        };
        let named = args.iter().any(|arg| {
            let hit = self.hit(arg);
            hit.is_some_and(|hit| hit.place >= Place::Above)
        });
        let bytes = bytes.filter(|_| !named)?;
        Some(Data::Known(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

fn echo(args: &[String]) -> String {
    let options = |arg: &&String| {
        let letters = arg.strip_prefix('-').unwrap_or_default();
        !letters.is_empty() && letters.chars().all(|c| "neE".contains(c))
    };
    let count = args.iter().take_while(options).count();
    let words: Vec<String> = args
        .iter()
        .skip(count)
        .map(|arg| marks::plain_but_unknown(arg))
        .collect();
    let text = words.join(" ");
    // `sh` reads escapes without being asked; what they hide is the same.
    let reads =
        text.contains('\\') && (short(args, 'e') || text.contains("\\x") || text.contains("\\0"));
    if reads { escapes::ansi(&text) } else { text }
}

fn printf(args: &[String]) -> String {
    let Some((format, rest)) = args.split_first() else {
        return String::new();
    };
    let format = escapes::ansi(&marks::plain_but_unknown(format));
    let mut values = rest
        .iter()
        .map(|arg| marks::plain_but_unknown(arg))
        .peekable();
    let mut out = String::new();
    loop {
        let (text, used) = once(&format, &mut values);
        out.push_str(&text);
        if !used || values.peek().is_none() || out.len() > 1 << 20 {
            return out;
        }
    }
}

fn once(format: &str, values: &mut impl Iterator<Item = String>) -> (String, bool) {
    let mut out = String::new();
    let mut used = false;
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let kind = chars.by_ref().find(|c| c.is_alphabetic() || *c == '%');
        match kind {
            Some('%') | None => out.push('%'),
            Some(kind) => {
                used = true;
                let value = values.next().unwrap_or_default();
                out.push_str(&match kind {
                    'b' => escapes::ansi(&value),
                    'c' => value.chars().take(1).collect(),
                    _ => value,
                });
            }
        }
    }
    (out, used)
}

/// Returns what a filter makes of a text, or the text where it lets some of it pass.
fn filter(name: &str, args: &[String], text: &str, decodes: bool) -> Option<String> {
    match name {
        "base64" if decodes => {
            let bytes = escapes::base64(text)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        "base64" => None,
        "rev" => {
            let backwards = |line: &str| line.chars().rev().collect::<String>();
            Some(text.lines().map(backwards).collect::<Vec<_>>().join("\n"))
        }
        "tr" => Some(translate(args, text)),
        "sed" => replace(args, text),
        _ => Some(text.to_owned()),
    }
}

fn translate(args: &[String], text: &str) -> String {
    let words: Vec<String> = args.iter().map(|arg| marks::plain(arg)).collect();
    let sets: Vec<Vec<char>> = words
        .iter()
        .filter(|arg| !arg.starts_with('-') || arg.len() == 1)
        .map(|set| characters(&escapes::ansi(set)))
        .collect();
    let from = sets.first().map_or(&[][..], Vec::as_slice);
    if short(&words, 'd') {
        return text.replace(from, "");
    }
    let to = sets.get(1).map_or(&[][..], Vec::as_slice);
    let other = |c: char| {
        let place = from.iter().position(|one| *one == c);
        place
            .and_then(|at| to.get(at).or(to.last()))
            .copied()
            .unwrap_or(c)
    };
    text.chars().map(other).collect()
}

fn characters(set: &str) -> Vec<char> {
    let chars: Vec<char> = set.chars().take(512).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(low) = chars.get(at).copied() {
        match (chars.get(at + 1), chars.get(at + 2)) {
            (Some('-'), Some(high)) => {
                out.extend((low..=*high).take(256));
                at += 3;
            }
            _ => {
                out.push(low);
                at += 1;
            }
        }
    }
    out
}

/// Says whether `s/x/y/` makes a text so long that nobody looks at it.
fn grows(args: &[String], text: &str) -> bool {
    let longest = args.iter().map(String::len).max().unwrap_or_default();
    text.len().saturating_mul(longest) > LARGEST && {
        let times = replaced(args).map(|(from, _)| text.matches(&from).count());
        times.unwrap_or_default().saturating_mul(longest) > LARGEST
    }
}

/// Reads `s/x/y/` of plain texts.
fn replace(args: &[String], text: &str) -> Option<String> {
    let (from, to) = replaced(args)?;
    Some(text.replace(&from, &to))
}

fn replaced(args: &[String]) -> Option<(String, String)> {
    let script = args.iter().find(|arg| !arg.starts_with('-'))?;
    let script = marks::plain(script);
    let mut chars = script.strip_prefix('s')?.chars();
    let mark = chars.next()?;
    let mut parts = chars.as_str().split(mark);
    let (from, to) = (parts.next()?, parts.next()?);
    let plain = !from.is_empty() && !from.contains(['*', '[', '\\', '^', '$', '.']);
    plain.then(|| (from.to_owned(), to.to_owned()))
}
