//! Looks at a program before it is ever run.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// How much of a program the kernel looks at to tell what it is.
const HEAD: u64 = 256;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a file cannot be run as a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// There is nothing at this path.
    #[error("there is no file {}; create it or correct the path", .path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// It is a directory.
    #[error("{} is a directory; name the program in it", .path.display())]
    Directory {
        /// Where.
        path: PathBuf,
    },
    /// It is a device, a pipe or a socket.
    #[error("{} is not a regular file; name a program or script", .path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
    },
    /// It cannot be looked at.
    #[error("cannot read {}: {why}; see to its mode and that of the directories above it", .path.display())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Its mode does not allow to run it.
    #[error("{0} is not executable; run `chmod +x {0}`", .path.display())]
    NotExecutable {
        /// Where.
        path: PathBuf,
    },
    /// It is a text that does not say what runs it.
    #[error(
        "{} is a script, but its first line does not say what runs it; begin it with a line such as `#!/usr/bin/env bash`",
        .path.display()
    )]
    NoInterpreter {
        /// Where.
        path: PathBuf,
    },
    /// A byte order mark hides its first line.
    #[error(
        "{} begins with a byte order mark, so that its `#!` line is not seen; save it as UTF-8 without one",
        .path.display()
    )]
    ByteOrderMark {
        /// Where.
        path: PathBuf,
    },
    /// Its first line ends with a carriage return.
    #[error(
        "the first line of {} ends in CR LF, so that the CR is taken for a part of the program it names; save it with LF line endings",
        .path.display()
    )]
    CarriageReturn {
        /// Where.
        path: PathBuf,
    },
    /// The program its first line names is not there.
    #[error(
        "the first line of {} names {}, which is not there; install it, or name another such as `#!/usr/bin/env bash`",
        .path.display(),
        .interpreter.display()
    )]
    InterpreterMissing {
        /// Where.
        path: PathBuf,
        /// What the line names.
        interpreter: PathBuf,
    },
}

/// Checks that a file can be run: a binary, or a script that says what runs it.
///
/// # Errors
///
/// When it cannot; the error says what to change.
pub fn check(path: &Path) -> Result<(), Unfit> {
    let at = path.to_owned();
    let unreadable = |error: io::Error| refused(path, &error);
    let metadata = path.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Unfit::Directory { path: at });
    }
    if !metadata.is_file() {
        return Err(Unfit::NotAFile { path: at });
    }
    if rustix::fs::access(path, Access::EXEC_OK).is_err() {
        return Err(Unfit::NotExecutable { path: at });
    }
    let mut head = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(HEAD).read_to_end(&mut head).map_err(unreadable)?;
    check_head(at, &head)
}

fn refused(path: &Path, error: &io::Error) -> Unfit {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unfit::Missing { path },
        _ => Unfit::Unreadable {
            path,
            why: error.to_string(),
        },
    }
}

fn check_head(path: PathBuf, head: &[u8]) -> Result<(), Unfit> {
    let Some(line) = head.strip_prefix(b"#!") else {
        return check_binary(path, head);
    };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or(line);
    if line.ends_with(b"\r") {
        return Err(Unfit::CarriageReturn { path });
    }
    let named = String::from_utf8_lossy(line);
    let Some(interpreter) = named.split_whitespace().next() else {
        return Err(Unfit::NoInterpreter { path });
    };
    let interpreter = PathBuf::from(interpreter);
    if interpreter.is_absolute() && !interpreter.exists() {
        return Err(Unfit::InterpreterMissing { path, interpreter });
    }
    Ok(())
}

/// A text without a first line is refused. What other binaries can be run is known
/// to the kernel alone.
fn check_binary(path: PathBuf, head: &[u8]) -> Result<(), Unfit> {
    if head.contains(&0) {
        return Ok(());
    }
    if head
        .strip_prefix(BYTE_ORDER_MARK)
        .is_some_and(|rest| rest.starts_with(b"#!"))
    {
        return Err(Unfit::ByteOrderMark { path });
    }
    Err(Unfit::NoInterpreter { path })
}
