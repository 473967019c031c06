//! The directories a guest was granted, as `wasi:filesystem/preopens` hands them
//! out: opened when the hook loaded, read only, and no link leads out of them.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::{FsPerms, OpenMode};

use crate::sandbox::instance::Call;

/// In the place of wasmtime's own, which opens directories by their path each time.
impl preopens::Host for Call {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let folders: Vec<_> = self
            .border
            .grants()
            .read
            .iter()
            .map(|folder| Ok((folder.dir.try_clone()?.into_std_file(), folder.path.clone())))
            .collect::<std::io::Result<_>>()?;
        let mut directories = Vec::with_capacity(folders.len());
        for (file, path) in folders {
            // Not on this thread: a pipe that nobody writes to would hold it for ever,
            // and nothing could end the call.
            let dir = Dir::new(file, FsPerms::ReadOnly, OpenMode::READ, false);
            directories.push((self.table().push(Descriptor::Dir(dir))?, path));
        }
        Ok(directories)
    }
}
