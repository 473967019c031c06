//! The program that agents are told to run.

use std::path::{Path, PathBuf};

use super::{InstallError, words};

/// Returns the absolute path of the program to wire: the one that was named, or this one.
///
/// # Errors
/// Returns why it could not be run, or would not be known again.
pub fn binary(named: Option<&Path>) -> Result<PathBuf, InstallError> {
    let path = match named {
        Some(named) => std::path::absolute(named).map_err(InstallError::io(named))?,
        None => {
            let path = std::env::current_exe().map_err(InstallError::io(Path::new("hookbox")))?;
            std::fs::canonicalize(&path).map_err(InstallError::io(&path))?
        }
    };
    if let Some(why) = unusable(&path) {
        return Err(InstallError::Binary { path, why });
    }
    if !words::is_hookbox(&path.to_string_lossy()) {
        return Err(InstallError::OtherName(path));
    }
    Ok(path)
}

/// Says why a program cannot be run, if so.
pub(in crate::agent) fn unusable(path: &Path) -> Option<String> {
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some("there is no such file".to_owned());
        }
        Err(error) => return Some(error.to_string()),
    };
    if !about.is_file() {
        return Some("it is not a file".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if about.permissions().mode() & 0o111 == 0 {
            return Some("it is not executable (chmod +x)".to_owned());
        }
    }
    None
}
