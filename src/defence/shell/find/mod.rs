//! `find` and `fd`, which read until they are told to do something.

mod expression;
mod fd;
mod meet;
mod pattern;
mod search;
mod three;

use super::super::scene::{Hit, Nearer as _};
use super::{Data, Judged, Kind, Place, Shell, marks, too_much, too_nested};
use expression::{Action, Query};
use search::Reached;

/// How deep a command runs others before all that they get is taken for protected.
const DEEP: usize = 3;

impl Shell<'_> {
    pub(in crate::defence) fn find(&mut self, args: &[String]) -> Judged<Data> {
        let by = format!("find {}", args.join(" "));
        // As PowerShell reads what was written for another shell, `\(` begins with a word.
        let is_bare = |arg: &String| arg == "\\" && self.kind == Kind::Windows;
        if self.second && args.iter().any(is_bare) {
            return Ok(Data::Unknown);
        }
        let is_option = |arg: &String| {
            let letters = arg.strip_prefix('-').unwrap_or_default();
            let known = |c: char| "HLPEXsxO".contains(c) || c.is_ascii_digit();
            !letters.is_empty() && letters.chars().all(known)
        };
        let is_test = |arg: &String| arg.starts_with(['-', '(', '!', ',', ')']) || is_bare(arg);
        let options = args.iter().take_while(|arg| is_option(arg)).count();
        let (options, rest) = args.split_at(options);
        let count = rest.iter().take_while(|arg| !is_test(arg)).count();
        let (roots, tests) = rest.split_at(count);
        let said = |letter| options.iter().any(|option| option.contains(letter));
        let query = Query::read(tests, said('E'));
        let mut query = query.ok_or_else(|| too_nested(&by))?;
        query.follows |= said('L');
        for file in &query.writes {
            self.forbid(file, Place::Above, &by)?;
        }
        let here = [".".to_owned()];
        let roots = if roots.is_empty() { &here[..] } else { roots };
        self.found(roots, &query, &by)
    }

    /// Looks for what is protected below some folders, and at what is done to it.
    fn found(&mut self, roots: &[String], query: &Query, by: &str) -> Judged<Data> {
        let mut reached = vec![Reached::default(); query.actions.len()];
        let mut nearest: Option<(Hit, &String)> = None;
        let mut cut = false;
        for root in roots {
            let Some(hit) = self.place(root) else {
                cut |= query.follows && self.search_links(root, query, &mut reached)?;
                continue;
            };
            cut |= self.search(root, &hit, query, &mut reached)?;
            if nearest
                .as_ref()
                .is_none_or(|(near, _)| near.place < hit.place)
            {
                nearest = Some((hit, root));
            }
        }
        if cut && query.acts() && reached.iter().all(|reached| reached.inside.is_none()) {
            return Err(too_much(by));
        }
        let mut out = Data::Unknown;
        for (action, reached) in query.actions.iter().zip(reached) {
            match action {
                Action::Delete => {
                    if let Some(found) = reached.inside {
                        return Err(self.refusal(found.hit, by));
                    }
                }
                Action::Run { words, there } => self.run(words, *there, &reached)?,
                Action::Print if out == Data::Unknown => {
                    out = printed(reached, query, nearest.as_ref());
                }
                Action::Print => {}
            }
        }
        Ok(match query.acts() {
            true => Data::Unknown,
            false => out,
        })
    }

    /// Looks at a command that is run for what is found.
    fn run(&mut self, words: &[String], there: bool, reached: &Reached) -> Judged<()> {
        let saved = self.state.cwds.clone();
        if let Some(found) = &reached.inside {
            self.tainted.clone_from(&found.hit.path);
            if there {
                self.state.cwds.push(found.folder());
            }
            let out = self.filled(words, &[marks::TAINTED.to_string()]);
            self.state.cwds = saved;
            return out;
        }
        self.filled(words, &[marks::UNKNOWN.to_string()])?;
        let Some(first) = reached.above.first() else {
            return Ok(());
        };
        if self.calls > DEEP {
            self.tainted.clone_from(&first.hit.path);
            return self.filled(words, &[marks::TAINTED.to_string()]);
        }
        if there {
            self.state.cwds.push(first.folder());
        }
        let paths: Vec<String> = reached
            .above
            .iter()
            .map(|found| found.path.clone())
            .collect();
        let out = self.filled(words, &paths);
        self.state.cwds = saved;
        out
    }

    /// Looks at a command with the paths in it that it gets.
    fn filled(&mut self, words: &[String], paths: &[String]) -> Judged<()> {
        let mut filled = Vec::new();
        for word in words {
            match word.as_str() {
                "{}" => filled.extend_from_slice(paths),
                word => {
                    let first = paths.first().map_or("", String::as_str);
                    filled.push(word.replace("{}", first));
                }
            }
        }
        self.command(filled, Data::Unknown).map(drop)
    }
}

/// Says what a search writes.
fn printed(reached: Reached, query: &Query, nearest: Option<&(Hit, &String)>) -> Data {
    let above = reached.above.into_iter().map(|found| found.hit);
    let inside = reached.inside.map(|found| found.hit);
    let Some(found) = above.fold(inside, |best, hit| best.max_place(Some(hit))) else {
        return Data::Unknown;
    };
    match nearest {
        // What everything is found in says little; a name says something.
        Some((hit, root)) if hit.place == Place::FarAbove && !query.named => {
            Data::Tree((*root).clone())
        }
        _ => Data::Tainted(found.path),
    }
}
