//! The version of the contract in `wit/`, and which components fit it.
//!
//! Within one major version the contract only grows, so a component that was built for
//! the same or an older minor version fits.

use std::fmt;

use crate::failure::{Cause, Failure};

/// What the names of the contract start with.
pub const OWN: &str = "hookbox:hook/";

/// The export a component hook must have, in this version.
pub const HANDLER: &str = "hookbox:hook/handler@1.1.0";

/// A version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Changes when something is taken away or changed.
    pub major: u64,
    /// Changes when something is added.
    pub minor: u64,
}

/// The version this hookbox speaks.
pub const SPOKEN: Version = Version { major: 1, minor: 1 };

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Reads the version of a name of the contract; nothing for other names.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let (_, version) = name.strip_prefix(OWN)?.split_once('@')?;
        let mut parts = version.split(['.', '-', '+']).map(str::parse);
        match (parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => Some(Self { major, minor }),
            _ => None,
        }
    }

    /// Says whether a component that was built for this version runs here.
    #[must_use]
    pub fn fits(self) -> bool {
        self.major == SPOKEN.major && self.minor <= SPOKEN.minor
    }
}

/// Returns the newest version of the contract that the names of a component speak of.
#[must_use]
pub fn version_of<'n>(names: impl IntoIterator<Item = &'n str>) -> Option<Version> {
    names.into_iter().filter_map(Version::of).max()
}

/// Refuses components that were built for a contract this hookbox does not speak.
///
/// # Errors
/// Returns which hookbox runs them.
pub fn check<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Failure> {
    let misfit = names
        .into_iter()
        .filter_map(Version::of)
        .find(|version| !version.fits());
    let Some(built_for) = misfit else {
        return Ok(());
    };
    let hookbox = env!("CARGO_PKG_VERSION");
    let advice = if built_for.major == SPOKEN.major {
        format!(
            "run it with a newer hookbox, one that speaks {built_for}, or build it for {SPOKEN}"
        )
    } else if built_for.major > SPOKEN.major {
        format!(
            "run it with a hookbox that speaks {}.x, or build it for {SPOKEN}",
            built_for.major
        )
    } else {
        format!("build it anew for {SPOKEN}")
    };
    Err(Failure::new(
        Cause::BadComponent,
        format!(
            "the component was built for version {built_for} of the contract hookbox:hook, and hookbox {hookbox} speaks {SPOKEN}; {advice}"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spoken_version_is_the_one_of_the_contract_file() {
        let contract = include_str!("../../wit/hook.wit");
        let line = contract
            .lines()
            .find(|line| line.starts_with("package"))
            .unwrap();
        let written = line
            .trim_start_matches("package hookbox:hook@")
            .trim_end_matches(';');
        assert_eq!(HANDLER, format!("{OWN}handler@{written}"));
        assert_eq!(Version::of(HANDLER), Some(SPOKEN));
    }

    #[test]
    fn older_minor_versions_fit_and_others_say_which_hookbox_they_need() {
        let said = |name: &str| check([name]).err().map(|failure| failure.message);
        assert_eq!(said("hookbox:hook/log@1.0.0"), None);
        assert_eq!(said("hookbox:hook/log@1.1.7"), None);
        assert_eq!(said("wasi:io/streams@9.9.0"), None);
        let newer = said("hookbox:hook/log@1.2.0").unwrap();
        assert!(newer.contains("one that speaks 1.2"), "{newer}");
        let next = said("hookbox:hook/handler@2.3.0").unwrap();
        assert!(next.contains("a hookbox that speaks 2.x"), "{next}");
        let early = said("hookbox:hook/handler@0.1.0").unwrap();
        assert!(early.contains("build it anew for 1.1"), "{early}");
    }
}
