//! What people read of a replay.

use std::fmt::Write as _;

use super::item::{Item, Told};
use super::tally::Tally;
use crate::cli::{diff, style};
use crate::decision::Ruling;
use crate::tape::Verdict;
use crate::timestamp;

/// How long a reason may be on its line.
const LONGEST_REASON: usize = 100;

/// One event on one line.
pub(super) fn line(item: &Item) -> String {
    let subject = item.subject.as_deref().unwrap_or_default();
    format!(
        "{:>6}  {}  {} {}  {}  {}\n",
        item.number,
        style::faint(timestamp::written(item.time)),
        style::name(style::plain(&item.event)),
        style::plain(subject),
        told(&item.was),
        style::faint(format!(
            "{} called, {:.2} ms",
            style::counted(item.hooks as u64, "hook"),
            item.took_us as f64 / 1e3
        ))
    )
}

/// A decision in a few words.
fn told(told: &Told) -> String {
    let by = match &told.hook {
        Some(hook) => format!(" by {}", style::name(style::plain(hook))),
        None => String::new(),
    };
    let reason = match &told.reason {
        Some(reason) => format!(": {}", shortened(&style::plain(reason))),
        None => String::new(),
    };
    match told.decision {
        Some(Ruling::Allow) => style::good("✓ allowed"),
        Some(Ruling::Modify) => style::good("✓ modified"),
        Some(Ruling::Block) => format!("{}{by}{reason}", style::bad("✗ blocked")),
        Some(Ruling::Ask) => format!("{}{by}{reason}", style::notable("? ask")),
        None => style::faint("undecided"),
    }
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST_REASON {
        return text.to_owned();
    }
    text.chars().take(LONGEST_REASON).chain(['…']).collect()
}

/// An event that today's hooks treat differently.
pub(super) fn change(item: &Item) -> String {
    let Some(today) = &item.checked else {
        return line(item);
    };
    let subject = item.subject.as_deref().unwrap_or_default();
    let verdict = match today.verdict {
        Verdict::Kept => style::faint("kept"),
        Verdict::NewlyAllowed | Verdict::NewRequest => style::bad(today.verdict.name()),
        other => style::notable(other.name()),
    };
    let mut out = format!(
        "{:>6}  {verdict}  {} {}\n",
        item.number,
        style::name(style::plain(&item.event)),
        style::plain(subject)
    );
    if let (Verdict::Kept, Some(difference)) = (today.verdict, &today.difference) {
        let what = style::plain(&difference.what);
        let _ = writeln!(out, "        differs in {what}");
    } else if today.new_requests.is_empty() {
        let _ = writeln!(out, "        was    {}", told(&item.was));
        let _ = writeln!(out, "        today  {}", told(&today.told));
    }
    if let Some((before, after)) = &today.payloads {
        out += &diff::changed_lines(before, after);
    }
    for request in &today.new_requests {
        let request = style::plain(request);
        let _ = writeln!(out, "        {} {request}", style::notable("new request:"));
    }
    out
}

/// The first difference, as a diff.
pub(super) fn difference(item: &Item) -> String {
    let Some(difference) = item
        .checked
        .as_ref()
        .and_then(|today| today.difference.as_ref())
    else {
        return String::new();
    };
    format!(
        "{} {}: {}\n{}",
        style::bad("first difference in"),
        style::plain(&item.tape),
        style::plain(&difference.what),
        diff::changed_lines(&difference.expected, &difference.found)
    )
}

/// What a folder of tapes comes to, as a table.
pub(super) fn table(tally: &Tally) -> String {
    let mut out = String::new();
    for verdict in Verdict::ALL {
        let count = tally.verdicts.get(&verdict).copied().unwrap_or(0);
        // What did not happen is only worth a line where people look for it.
        let asked = !matches!(verdict, Verdict::NewlyAsked | Verdict::ReasonChanged);
        if count > 0 || asked {
            let count = format!("{:>9}", style::grouped(count));
            let shown = match verdict {
                _ if count.trim() == "0" => style::faint(&count),
                Verdict::Kept => style::good(&count),
                Verdict::NewlyAllowed | Verdict::NewRequest => style::bad(&count),
                _ => style::notable(&count),
            };
            let _ = writeln!(out, "{shown}  {}", verdict.name());
        }
    }
    let (before, after) = tally.fuel;
    let _ = writeln!(
        out,
        "{:>9}  fuel changed {}",
        style::grouped(tally.fuel_changed),
        style::faint(format!(
            "({} → {} in all{})",
            style::grouped(before),
            style::grouped(after),
            percent(before, after)
        ))
    );
    out
}

fn percent(before: u64, after: u64) -> String {
    if before == 0 || before == after {
        return String::new();
    }
    let change = (after as f64 - before as f64) / before as f64 * 100.0;
    format!(", {change:+.1} %")
}

/// The last line of a replay.
pub(super) fn total(tally: &Tally) -> String {
    let mut parts = Vec::new();
    for (count, word) in [
        (tally.allowed, "allowed"),
        (tally.modified, "modified"),
        (tally.blocked, "blocked"),
        (tally.asked, "asked"),
        (tally.undecided, "not decided"),
    ] {
        if count > 0 {
            parts.push(format!("{} {word}", style::grouped(count)));
        }
    }
    let parts = if parts.is_empty() {
        String::new()
    } else {
        format!(": {}", parts.join(", "))
    };
    let size = match tally.records {
        0 => String::new(),
        records => style::faint(format!(
            " ({}, {})",
            style::counted(records, "record"),
            style::size(tally.bytes)
        )),
    };
    format!(
        "{} on {}{parts}{size}\n",
        style::counted(tally.events, "event"),
        style::counted(tally.tapes, "tape")
    )
}
