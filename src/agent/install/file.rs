//! Settings files on disk: read whole, written at once or not at all.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::InstallError;

/// No settings are as large.
const MAX_SIZE: u64 = 10 << 20;

/// Reads a file that may not be there.
pub(in crate::agent) fn read(path: &Path) -> Result<Option<String>, InstallError> {
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return if path.symlink_metadata().is_ok() {
                Err(InstallError::DeadLink(path.to_owned()))
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(InstallError::io(path)(error)),
    };
    if !about.is_file() {
        return Err(InstallError::NotAFile(path.to_owned()));
    }
    if about.len() > MAX_SIZE {
        return Err(InstallError::TooLarge {
            path: path.to_owned(),
            limit: MAX_SIZE,
        });
    }
    let bytes = fs::read(path).map_err(InstallError::io(path))?;
    let text = String::from_utf8(bytes).map_err(|_| InstallError::NotUtf8(path.to_owned()))?;
    Ok(Some(text))
}

/// Refuses a file that is there and must not be written.
pub(super) fn check_writable(path: &Path) -> Result<(), InstallError> {
    match fs::metadata(path) {
        Ok(about) if about.permissions().readonly() => Err(InstallError::ReadOnly(path.to_owned())),
        _ => Ok(()),
    }
}

/// Writes a file in one step: a reader sees the old text or the new one. Where the path
/// is a link, what it leads to is written.
pub(super) fn write(path: &Path, text: &str, mode: Mode<'_>) -> Result<(), InstallError> {
    let target = target(path)?;
    let failed = || InstallError::io(&target);
    let folder = target.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(folder).map_err(InstallError::io(folder))?;
    let mut file = mode
        .builder()
        .prefix(".hookbox-")
        .tempfile_in(folder)
        .map_err(InstallError::io(folder))?;
    file.write_all(text.as_bytes()).map_err(failed())?;
    if let Some(permissions) = mode.permissions(&target)? {
        fs::set_permissions(file.path(), permissions).map_err(failed())?;
    }
    file.as_file().sync_all().map_err(failed())?;
    file.persist(&target)
        .map_err(|error| failed()(error.error))?;
    Ok(())
}

/// What a path leads to.
fn target(path: &Path) -> Result<PathBuf, InstallError> {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|_| InstallError::DeadLink(path.to_owned()))
}

/// Who may do what with a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode<'p> {
    /// What the file has; what new files have if it is not there.
    Kept,
    /// A program.
    Executable,
    /// What another file has.
    Like(&'p Path),
}

impl Mode<'_> {
    fn builder(self) -> tempfile::Builder<'static, 'static> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // The mask of the process takes from it what it always does.
            let all = match self {
                Mode::Executable => 0o777,
                Mode::Kept => 0o666,
                Mode::Like(_) => 0o600,
            };
            builder.permissions(fs::Permissions::from_mode(all));
        }
        builder
    }

    fn permissions(self, target: &Path) -> Result<Option<fs::Permissions>, InstallError> {
        let like = match self {
            Mode::Executable => return Ok(None),
            Mode::Kept => target,
            Mode::Like(path) => path,
        };
        match fs::metadata(like) {
            Ok(about) => Ok(Some(about.permissions())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(InstallError::io(like)(error)),
        }
    }
}

/// Removes a file, and the folders that are empty without it, up to a root.
pub(super) fn remove(path: &Path, root: &Path) -> Result<(), InstallError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(InstallError::io(path)(error));
        }
        _ => {}
    }
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| *folder != root && folder.starts_with(root)) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}
