//! What is said about files that cannot be run.

use super::*;

fn checked(content: &[u8], mode: u32) -> Result<(), String> {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("hook");
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    let place = format!("{}/", room.path().display());
    check(&path).map_err(|unfit| unfit.to_string().replace(&place, ""))
}

#[test]
fn programs_and_scripts_are_fine() {
    assert_eq!(check(Path::new("/bin/sh")), Ok(()));
    assert_eq!(checked(b"#!/bin/sh\necho\n", 0o755), Ok(()));
    assert_eq!(checked(b"#! /usr/bin/env -S bash -e", 0o755), Ok(()));
    assert_eq!(checked(b"\x7fELF\x02\x01\x01\0\0", 0o755), Ok(()));
    // Only the first line matters.
    assert_eq!(checked(b"#!/bin/sh\necho\r\n", 0o755), Ok(()));
}

#[test]
fn what_is_no_file_is_refused() {
    let room = tempfile::tempdir().unwrap();
    let path = room.path().join("hook");
    assert_eq!(check(&path), Err(Unfit::Missing { path: path.clone() }));
    let path = room.path().to_owned();
    assert_eq!(check(&path), Err(Unfit::Directory { path: path.clone() }));
    let path = PathBuf::from("/dev/null");
    assert_eq!(check(&path), Err(Unfit::NotAFile { path: path.clone() }));
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let wrong = |content: &[u8], mode| checked(content, mode).unwrap_err();
    assert_eq!(
        wrong(b"#!/bin/sh\n", 0o644),
        "hook is not executable; run `chmod +x hook`"
    );
    let no_line = "hook is a script, but its first line does not say what runs it; begin it with a line such as `#!/usr/bin/env bash`";
    assert_eq!(wrong(b"echo hello\n", 0o755), no_line);
    assert_eq!(wrong(b"", 0o755), no_line);
    assert_eq!(wrong(b"#!  \necho", 0o755), no_line);
    assert_eq!(
        wrong(b"#!/usr/bin/env bash\r\necho\r\n", 0o755),
        "the first line of hook ends in CR LF, so that the CR is taken for a part of the program it names; save it with LF line endings"
    );
    assert_eq!(
        wrong(b"\xef\xbb\xbf#!/bin/sh\n", 0o755),
        "hook begins with a byte order mark, so that its `#!` line is not seen; save it as UTF-8 without one"
    );
    assert_eq!(
        wrong(b"#!/opt/no/such/shell -e\n", 0o755),
        "the first line of hook names /opt/no/such/shell, which is not there; install it, or name another such as `#!/usr/bin/env bash`"
    );
}
