//! Digests of files that have not changed since they were last read. Hashing hookbox itself
//! takes longer than all the rest of a call.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::TrustError;
use crate::dialect::kept::Identity;
use crate::sandbox::compiled::CodeStore;
use crate::sandbox::engine::hex;

/// What is known of the files of a project.
pub(super) struct Memo {
    store: Option<CodeStore>,
    name: PathBuf,
    known: BTreeMap<PathBuf, (Identity, String)>,
    new: bool,
}

impl Memo {
    /// Brings back what is known. Without a safe place to keep it nothing is.
    pub(super) fn open(project: &Path) -> Self {
        let store = CodeStore::open_default().ok();
        let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
        let name = Path::new("kept").join(format!("{}.reviewed", hex(&digest[..16])));
        let bytes = store.as_ref().and_then(|store| store.read_beside(&name));
        let known = bytes.and_then(|bytes| postcard::from_bytes(&bytes).ok());
        Self {
            store,
            name,
            known: known.unwrap_or_default(),
            new: false,
        }
    }

    /// Returns the digest of a file's bytes.
    pub(super) fn digest(&mut self, path: &Path) -> Result<String, TrustError> {
        self.digest_of(path, <[u8]>::to_vec)
    }

    /// Returns the digest of the part of a file that counts.
    pub(super) fn digest_of(
        &mut self,
        path: &Path,
        part: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<String, TrustError> {
        let unreadable = |error| TrustError::Unreadable {
            path: path.to_owned(),
            error,
        };
        let now = Identity::of(path);
        if let (Some((known, digest)), Some(now)) = (self.known.get(path), &now)
            && known == now
        {
            return Ok(digest.clone());
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let digest = hex(&Sha256::digest(part(&bytes)));
        if let Some(now) = now.filter(|now| now.is_settled() && Identity::of(path) == Some(*now)) {
            self.known.insert(path.to_owned(), (now, digest.clone()));
            self.new = true;
        }
        Ok(digest)
    }

    /// Keeps what is known now. That it cannot be kept only costs time.
    pub(super) fn close(self) {
        if !self.new {
            return;
        }
        if let (Some(store), Ok(bytes)) = (self.store, postcard::to_allocvec(&self.known)) {
            let _ = store.write_beside(&self.name, |file| file.write_all(&bytes));
        }
    }
}
