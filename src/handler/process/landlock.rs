//! Confines a thread, and with it the programs it starts, by Landlock.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, path_beneath_rules,
};

use super::Confinement;

/// Restricts the calling thread as far as the kernel can. Cannot be undone.
pub(super) fn restrict(confinement: &Confinement, directory: &Path) -> Result<(), RulesetError> {
    if confinement.is_free() {
        return Ok(());
    }
    let files = handled(confinement);
    let mut ruleset = Ruleset::default();
    if !files.is_empty() {
        ruleset = ruleset.handle_access(files)?;
    }
    if confinement.connect.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let below = |paths: &Option<Vec<PathBuf>>| -> Vec<PathBuf> {
        let paths = paths.iter().flatten();
        paths.map(|path| directory.join(path)).collect()
    };
    let ports = confinement.connect.iter().flatten();
    let ports = ports.map(|port| NetPort::new(*port, AccessNet::ConnectTcp));
    ruleset
        .create()?
        .add_rules(allow(below(&confinement.read), files & reading()))?
        .add_rules(allow(below(&confinement.write), files & writing()))?
        .add_rules(allow(["/"], unasked(confinement)))?
        .add_rules(allow(["/dev/null"], files & AccessFs::from_file(ABI::V3)))?
        .add_rules(ports.map(Ok::<_, RulesetError>))?
        .restrict_self()?;
    Ok(())
}

/// Makes rules for the paths that are there; none if there is nothing to allow.
fn allow<P: AsRef<Path>>(
    paths: impl IntoIterator<Item = P>,
    access: BitFlags<AccessFs>,
) -> impl Iterator<Item = Result<PathBeneath<PathFd>, RulesetError>> {
    path_beneath_rules(paths, access).filter(move |_| !access.is_empty())
}

/// Says what of a confinement the kernel cannot enforce.
pub(super) fn missing(confinement: &Confinement) -> Option<String> {
    if demanding().handle_access(reading()).is_err() {
        return Some(
            "this kernel has no Landlock, so that programs run unconfined; use Linux 5.13 or later with `landlock` among its security modules (`lsm=` on the kernel's command line)"
                .to_owned(),
        );
    }
    let mut missing = Vec::new();
    if confinement.write.is_some() && demanding().handle_access(writing()).is_err() {
        missing.push("cannot keep files from being emptied (Landlock ABI 3 is needed, Linux 6.2)");
    }
    if confinement.connect.is_some() && demanding().handle_access(AccessNet::ConnectTcp).is_err() {
        missing.push("cannot confine TCP connections (Landlock ABI 4 is needed, Linux 6.7)");
    }
    (!missing.is_empty()).then(|| format!("this kernel {}", missing.join(", and ")))
}

fn demanding() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(ABI::V1)
}

fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_write(ABI::V3)
}

/// What is denied unless a rule allows it.
fn handled(confinement: &Confinement) -> BitFlags<AccessFs> {
    let read = confinement.read.as_ref().map(|_| reading());
    let write = confinement.write.as_ref().map(|_| writing());
    let asked = read.unwrap_or_default() | write.unwrap_or_default();
    asked | unasked(confinement)
}

/// Moving a file to another directory is denied as soon as anything about files
/// is. Who only confines reading has to allow it again.
fn unasked(confinement: &Confinement) -> BitFlags<AccessFs> {
    match (&confinement.read, &confinement.write) {
        (Some(_), None) => AccessFs::Refer.into(),
        _ => BitFlags::EMPTY,
    }
}
