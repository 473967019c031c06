//! What `find` meets on its way, and what it does there.

use std::collections::HashSet;

use super::super::super::held::{Item, Sort};
use super::expression::{Action, Expression, Query, Test};
use super::three::Three;

/// How what is searched is spelled.
pub(super) struct Root<'r> {
    /// Nothing, if that is not known.
    pub spelled: Option<&'r str>,
    /// Its name, for tests of names.
    pub name: &'r str,
    /// Links are what they lead to.
    pub follows: bool,
}

/// Returns for each action what it may be done to.
pub(super) fn met<'i>(query: &Query, root: &Root, items: &'i [Item]) -> Vec<Vec<&'i Item>> {
    let mut order: Vec<&Item> = items.iter().collect();
    order.sort_by_key(|item| item.names.len());
    let mut out = vec![Vec::new(); query.actions.len()];
    let mut pruned: HashSet<&[String]> = HashSet::new();
    for item in order {
        let depth = item.names.len();
        if query.most.is_some_and(|most| depth > most) {
            continue;
        }
        let above = depth.checked_sub(1).and_then(|up| item.names.get(..up));
        if above.is_some_and(|above| pruned.contains(above)) {
            pruned.insert(&item.names);
            continue;
        }
        if depth < query.least {
            continue;
        }
        let mut look = Look::new(query, root, item);
        look.at(&query.expression, Three::Yes);
        if look.pruned == Three::Yes && !query.deep {
            pruned.insert(&item.names);
        }
        for (done, all) in look.done.iter().zip(&mut out) {
            if *done && item.hit.is_some() {
                all.push(item);
            }
        }
    }
    out
}

/// A look at one of them.
struct Look<'l> {
    query: &'l Query,
    root: &'l Root<'l>,
    item: &'l Item,
    /// Both ways that its path may be written.
    paths: Option<[String; 2]>,
    done: Vec<bool>,
    pruned: Three,
}

impl<'l> Look<'l> {
    fn new(query: &'l Query, root: &'l Root<'l>, item: &'l Item) -> Self {
        Self {
            query,
            root,
            item,
            paths: root.spelled.map(|root| paths(root, &item.names)),
            done: vec![false; query.actions.len()],
            pruned: Three::No,
        }
    }

    /// Goes through an expression that is reached, and says whether it is met.
    fn at(&mut self, expression: &Expression, reached: Three) -> Three {
        if reached == Three::No {
            return Three::No;
        }
        match expression {
            Expression::Test(test) => self.test(test),
            Expression::Not(inner) => self.at(inner, reached).not(),
            Expression::And(all) => all.iter().fold(Three::Yes, |met, one| {
                met.and(self.at(one, reached.and(met)))
            }),
            Expression::Or(all) => all.iter().fold(Three::No, |met, one| {
                met.or(self.at(one, reached.and(met.not())))
            }),
            Expression::List(all) => all.iter().fold(Three::Yes, |_, one| self.at(one, reached)),
            Expression::Prune => {
                self.pruned = self.pruned.or(reached);
                Three::Yes
            }
            Expression::Act(number) => {
                if let Some(done) = self.done.get_mut(*number) {
                    *done = true;
                }
                match self.query.actions.get(*number) {
                    Some(Action::Print) => Three::Yes,
                    // What a command answers is not known.
                    _ => Three::Maybe,
                }
            }
        }
    }

    fn test(&self, test: &Test) -> Three {
        match test {
            Test::Name(pattern) => match (self.item.names.last(), self.root.name) {
                (Some(name), _) => pattern.matches(name),
                (None, "") => Three::Maybe,
                (None, name) => pattern.matches(name),
            },
            Test::Path(pattern) => match &self.paths {
                Some([one, two]) => pattern.matches(one).either(pattern.matches(two)),
                None => Three::Maybe,
            },
            Test::Sort(letters) => self.sort(letters),
            Test::Link => match (self.item.sort, self.root.follows) {
                (Sort::File | Sort::Folder, false) => Three::No,
                _ => Three::Maybe,
            },
            Test::Empty => self.empty(),
            Test::Known(known) => Three::from(*known),
            Test::Unknown => Three::Maybe,
        }
    }

    fn sort(&self, letters: &str) -> Three {
        let letter = match self.item.sort {
            Sort::File => 'f',
            Sort::Folder => 'd',
            Sort::Link if !self.root.follows => 'l',
            _ => return Three::Maybe,
        };
        let plain = letters.chars().all(|c| c.is_ascii_lowercase() || c == ',');
        match plain && !letters.is_empty() {
            true => letters.contains(letter).into(),
            false => Three::Maybe,
        }
    }

    fn empty(&self) -> Three {
        match self.item.sort {
            Sort::File => {
                let found = self.item.path.symlink_metadata();
                found.map_or(Three::Maybe, |found| (found.len() == 0).into())
            }
            Sort::Folder => {
                let entries = self.item.path.read_dir();
                entries.map_or(Three::Maybe, |mut all| all.next().is_none().into())
            }
            Sort::Link if !self.root.follows => Three::No,
            _ => Three::Maybe,
        }
    }
}

/// Returns a path as `find` writes it. Some put a slash behind one that is there already.
fn paths(root: &str, names: &[String]) -> [String; 2] {
    let rest = names.join("/");
    if names.is_empty() {
        return [root.to_owned(), root.trim_end_matches('/').to_owned()];
    }
    let joined = match root.ends_with('/') {
        true => format!("{root}{rest}"),
        false => format!("{root}/{rest}"),
    };
    [joined, format!("{root}/{rest}")]
}
