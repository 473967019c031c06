//! Finds tapes, and splits them over the jobs of a CI matrix.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result, bail};

/// One part of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    part: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let help = || "write PART/PARTS, for example 3/16".to_owned();
        let (part, of) = text.split_once('/').ok_or_else(help)?;
        let part: usize = part.parse().map_err(|_| help())?;
        let of: usize = of.parse().map_err(|_| help())?;
        if part == 0 || part > of {
            return Err(format!(
                "there is no part {part} of {of}; they are counted from 1"
            ));
        }
        Ok(Self { part, of })
    }
}

/// A tape, and what it is called in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// Finds the tapes that paths name: files, and every `*.tape` below folders.
pub(super) fn tapes(paths: &[PathBuf]) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for path in paths {
        let metadata = std::fs::metadata(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        if metadata.is_dir() {
            let before = found.len();
            walk(path, path, &mut found)?;
            if found.len() == before {
                bail!("there is no *.tape in {}", path.display());
            }
        } else {
            found.push(Found {
                name: path.display().to_string(),
                path: path.clone(),
                bytes: metadata.len(),
            });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found.dedup();
    Ok(found)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<Found>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        // A link could lead anywhere, also back up.
        if kind.is_dir() {
            walk(root, &path, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "tape") {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.push(Found {
                name: name.display().to_string(),
                bytes: entry.metadata()?.len(),
                path,
            });
        }
    }
    Ok(())
}

impl Shard {
    /// Chooses the tapes of this part: the largest first, each to the part that has the
    /// least so far. Every part comes to the same plan.
    pub(super) fn choose(self, mut tapes: Vec<Found>) -> Vec<Found> {
        tapes.sort_by(|one, other| {
            let size = other.bytes.cmp(&one.bytes);
            size.then_with(|| one.name.cmp(&other.name))
        });
        let mut loads = vec![0_u64; self.of];
        let mut chosen: Vec<Found> = Vec::new();
        for tape in tapes {
            let lightest = (0..self.of).min_by_key(|&part| loads[part]).unwrap_or(0);
            loads[lightest] += tape.bytes.max(1);
            if lightest + 1 == self.part {
                chosen.push(tape);
            }
        }
        chosen.sort_by(|one, other| one.name.cmp(&other.name));
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_all_of_it_and_have_nothing_in_common() {
        let tapes: Vec<Found> = (1..=40_u64)
            .map(|index| Found {
                path: PathBuf::from(index.to_string()),
                name: index.to_string(),
                bytes: index * index % 17,
            })
            .collect();
        let mut all: Vec<Found> = (1..=7)
            .flat_map(|part| Shard { part, of: 7 }.choose(tapes.clone()))
            .collect();
        all.sort_by_key(|tape| tape.name.parse::<u64>().unwrap());
        assert_eq!(all, tapes);
    }

    #[test]
    fn a_shard_is_one_of_its_parts() {
        assert_eq!("3/16".parse(), Ok(Shard { part: 3, of: 16 }));
        for text in ["0/4", "5/4", "3", "a/b", "1/0", "-1/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
