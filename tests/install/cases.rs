//! A case a folder in `cases/AGENT/`: `install` makes `after.json` of `before.json`, and
//! `uninstall` makes `before.json` again, or `removed.json` where that is there.
//!
//! `UPDATE_CASES=1` writes down what came out.

use std::fs;
use std::path::{Path, PathBuf};

use hookbox::agent::install::{self, Backup, InstallError, Scope};

use super::world::{World, find};

#[test]
fn settings_become_what_the_cases_say_and_back_again() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install/cases");
    let cases = folders(&folder)
        .into_iter()
        .flat_map(|agent| folders(&agent));
    let cases: Vec<PathBuf> = cases.collect();
    assert!(cases.len() > 25, "the cases are gone");
    let wrong: Vec<String> = cases.iter().filter_map(|case| check(case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// Returns what is wrong with a case.
fn check(case: &Path) -> Option<String> {
    let agent = find(case.parent()?.file_name()?.to_str()?);
    let world = World::new();
    let path = format!("app/{}", agent.wiring.project);
    let before = fs::read(case.join("before.json")).ok();
    if let Some(before) = &before {
        world.write(&path, before);
    }
    let untouched = world.all();
    let plan = install::plan(agent, Scope::Project, &world.places(), &world.binary());
    let plan = match plan {
        Ok(plan) => plan,
        Err(error) => {
            fs::remove_file(world.binary()).unwrap();
            assert_eq!(world.all(), untouched, "a refusal changes nothing");
            return compare(case, "error.txt", &told(&world, &error));
        }
    };
    let makes_backup = plan
        .changes
        .iter()
        .any(|change| change.backup == Backup::Make);
    // What only we have written is nothing to go back to.
    let removed_whole = fs::read(case.join("removed.json")).is_ok_and(|left| left.is_empty());
    let wanted = before.is_some() && !removed_whole;
    assert_eq!(makes_backup, wanted, "{}", case.display());
    install::apply(&plan).unwrap();
    let after = world.read(&path).unwrap();
    let again = install::plan(agent, Scope::Project, &world.places(), &world.binary()).unwrap();
    assert!(
        again.changes.is_empty(),
        "{}: not idempotent",
        case.display()
    );
    world.uninstall(agent.name, Scope::Project);
    let removed = world.read(&path);
    let expects = case.join("removed.json");
    let had_ours = before
        .as_ref()
        .is_some_and(|text| String::from_utf8_lossy(text).contains("hookbox"));
    let mut wrong = compare(case, "after.json", &world.plain(&after));
    if had_ours || expects.exists() {
        wrong = wrong.or(compare(case, "removed.json", &removed.unwrap_or_default()));
    } else if removed.map(String::into_bytes) != before {
        wrong = Some(format!("{}: is not what it was", case.display()));
    } else {
        fs::remove_file(world.binary()).unwrap();
        assert_eq!(
            world.all(),
            untouched,
            "{}: something is left",
            case.display()
        );
    }
    wrong
}

fn told(world: &World, error: &InstallError) -> String {
    world.plain(&format!("{error}\n"))
}

fn compare(case: &Path, name: &str, found: &str) -> Option<String> {
    let path = case.join(name);
    if std::env::var_os("UPDATE_CASES").is_some() {
        fs::write(&path, found).unwrap();
    }
    let wanted = fs::read_to_string(&path).unwrap_or_default();
    (wanted != found).then(|| format!("{} is another:\n{found}", path.display()))
}
