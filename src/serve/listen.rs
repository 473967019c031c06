//! Opens what a server listens on.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use super::ServeError;
use super::place::Place;

/// Opens the socket. It gets its name when nobody else can use it any more.
pub(super) fn socket(place: &Place) -> Result<UnixListener, ServeError> {
    let path = &place.socket;
    let unusable = |error| ServeError::Unusable {
        path: path.clone(),
        error,
    };
    // A dead server leaves its socket behind; something else's is not ours to replace.
    if let Ok(metadata) = fs::symlink_metadata(path) {
        if !metadata.file_type().is_socket() {
            return Err(ServeError::NoSocket(path.clone()));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(ServeError::Running(path.clone()));
        }
    }
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let listener = UnixListener::bind(&new).map_err(unusable)?;
    tighten(&new)
        .and_then(|()| fs::rename(&new, path))
        .and_then(|()| listener.set_nonblocking(true))
        .map_err(unusable)?;
    Ok(listener)
}

fn tighten(path: &Path) -> std::io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Opens a port, on loopback only.
pub(super) fn port(address: SocketAddr) -> Result<std::net::TcpListener, ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let taken = |error| ServeError::Taken { address, error };
    let listener = std::net::TcpListener::bind(address).map_err(taken)?;
    listener.set_nonblocking(true).map_err(taken)?;
    Ok(listener)
}
