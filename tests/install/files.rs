//! Settings on disk: links, modes, and others who write at the same time.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::thread;

use hookbox::agent::install::{self, InstallError, Plan, Scope};

use super::world::{World, find};

const SETTINGS: &str = "app/.windsurf/hooks.json";
const BACKUP: &str = "app/.windsurf/hooks.json.hookbox-backup";
const MINE: &str = "{\n  \"hooks\": {} // mine\n}\n";

fn plan(world: &World) -> Result<Plan, InstallError> {
    let agent = find("windsurf");
    install::plan(agent, Scope::Project, &world.places(), &world.binary())
}

#[test]
fn what_a_link_leads_to_is_written_and_the_link_stays() {
    let world = World::new();
    world.write("dotfiles/hooks.json", MINE);
    fs::create_dir_all(world.path("app/.windsurf")).unwrap();
    symlink("../../dotfiles/hooks.json", world.path(SETTINGS)).unwrap();
    world.install("windsurf", Scope::Project);
    assert!(world.path(SETTINGS).is_symlink());
    assert!(
        world
            .read("dotfiles/hooks.json")
            .unwrap()
            .contains("hook windsurf")
    );
    assert_eq!(world.read(BACKUP).as_deref(), Some(MINE));
    world.uninstall("windsurf", Scope::Project);
    assert!(world.path(SETTINGS).is_symlink());
    assert_eq!(world.read("dotfiles/hooks.json").as_deref(), Some(MINE));
    assert_eq!(world.read(BACKUP), None);
}

#[test]
fn a_link_to_nothing_is_refused() {
    let world = World::new();
    fs::create_dir_all(world.path("app/.windsurf")).unwrap();
    symlink("/no/such/file", world.path(SETTINGS)).unwrap();
    assert!(matches!(plan(&world), Err(InstallError::DeadLink(_))));
}

#[test]
fn what_is_no_file_of_settings_is_refused() {
    let world = World::new();
    fs::create_dir_all(world.path(SETTINGS)).unwrap();
    assert!(matches!(plan(&world), Err(InstallError::NotAFile(_))));
    let world = World::new();
    world.write(SETTINGS, " ".repeat((10 << 20) + 1));
    assert!(matches!(plan(&world), Err(InstallError::TooLarge { .. })));
}

#[test]
fn a_mode_is_kept_and_the_backup_has_it_too() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    let mode = |path: &str| fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(world.path(SETTINGS), fs::Permissions::from_mode(0o600)).unwrap();
    world.install("windsurf", Scope::Project);
    assert_eq!((mode(SETTINGS), mode(BACKUP)), (0o600, 0o600));
}

#[test]
fn what_must_not_be_written_is_refused() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    fs::set_permissions(world.path(SETTINGS), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(plan(&world), Err(InstallError::ReadOnly(_))));
    assert_eq!(world.read(SETTINGS).as_deref(), Some(MINE));
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_and_nothing_else() {
    let world = World::new();
    world.write("app/.windsurf", "a file");
    let error = plan(&world).unwrap_err();
    assert!(matches!(error, InstallError::Io { .. }), "{error}");
    assert_eq!(world.read("app/.windsurf").as_deref(), Some("a file"));
}

#[test]
fn a_folder_that_must_not_be_written_is_an_error_and_nothing_else() {
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: nothing is forbidden to root");
        return;
    }
    let world = World::new();
    world.write(SETTINGS, MINE);
    let folder = world.path("app/.windsurf");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let error = install::apply(&plan(&world).unwrap()).unwrap_err();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(error, InstallError::Io { .. }), "{error}");
    assert_eq!(world.read(SETTINGS).as_deref(), Some(MINE));
    assert_eq!(world.read(BACKUP), None);
}

#[test]
fn many_at_once_come_to_what_one_comes_to() {
    let alone = World::new();
    alone
        .write(SETTINGS, MINE)
        .install("windsurf", Scope::Project);
    let wanted = alone.plain(&alone.read(SETTINGS).unwrap());
    for _ in 0..20 {
        let world = World::new();
        world.write(SETTINGS, MINE).binary();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| install::apply(&plan(&world).unwrap()).unwrap());
            }
        });
        assert_eq!(world.plain(&world.read(SETTINGS).unwrap()), wanted);
        assert_eq!(world.read(BACKUP).as_deref(), Some(MINE));
        let names = fs::read_dir(world.path("app/.windsurf")).unwrap();
        assert_eq!(names.count(), 2, "nothing is left behind");
    }
}

#[test]
fn what_somebody_else_wrote_in_between_is_not_lost() {
    let world = World::new();
    world.write(SETTINGS, MINE);
    let plan = plan(&world).unwrap();
    world.write(SETTINGS, "{\"theirs\": 1}");
    let error = install::apply(&plan).unwrap_err();
    assert!(matches!(error, InstallError::Changed(_)), "{error}");
    assert_eq!(world.read(SETTINGS).as_deref(), Some("{\"theirs\": 1}"));
}

#[test]
fn the_first_original_is_kept_and_later_changes_survive() {
    let world = World::new();
    world
        .write(SETTINGS, MINE)
        .install("windsurf", Scope::Project);
    let wired = world.read(SETTINGS).unwrap();
    world.write(SETTINGS, wired.replace("// mine", "// mine, later"));
    world.program("bin/hookbox-2", "#!/bin/sh\n");
    let other = world.path("bin/hookbox-2");
    let agent = find("windsurf");
    let plan = install::plan(agent, Scope::Project, &world.places(), &other).unwrap();
    install::apply(&plan).unwrap();
    assert_eq!(world.read(BACKUP).as_deref(), Some(MINE));
    assert!(!world.read(SETTINGS).unwrap().contains("bin/hookbox hook"));
    world.uninstall("windsurf", Scope::Project);
    let left = world.read(SETTINGS).unwrap();
    assert!(
        left.contains("// mine, later") && !left.contains("hookbox"),
        "{left}"
    );
    assert_eq!(world.read(BACKUP).as_deref(), Some(MINE));
}

#[test]
fn an_agent_with_a_folder_of_its_own_is_wired_there() {
    let world = World::new();
    let mut places = world.places();
    places.variables.insert("CODEX_HOME", world.path("codex"));
    let agent = find("codex");
    let plan = install::plan(agent, Scope::User, &places, &world.binary()).unwrap();
    install::apply(&plan).unwrap();
    assert!(world.read("codex/hooks.json").is_some());
    assert!(world.read("home/.codex/hooks.json").is_none());
    let text = world.read("codex/hooks.json").unwrap();
    assert!(!text.contains("--project"), "for all projects");
}
